//! Keys of JSON reports that have a new name: until the next release a value has both, the present
//! key and, after it, the former one.
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The present key, and the former one.
pub(crate) type Keys = [&'static str; 2];

/// `value` under both of its keys; for a field that is flattened into its report.
pub(crate) fn serialize<S: Serializer>(
    keys: Keys,
    value: &(impl Serialize + ?Sized),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(keys.len()))?;
    for key in keys {
        map.serialize_entry(key, value)?;
    }
    map.end()
}

/// As [`serialize`], but nothing at all of a collection that is empty.
pub(crate) fn serialize_some<'a, C, S>(
    keys: Keys,
    values: &'a C,
    serializer: S,
) -> Result<S::Ok, S::Error>
where
    C: Serialize + ?Sized,
    &'a C: IntoIterator,
    S: Serializer,
{
    match values.into_iter().next() {
        Some(_) => serialize(keys, values, serializer),
        None => serializer.serialize_map(Some(0))?.end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Report {
        frames: u32,
        #[serde(flatten, serialize_with = "actions")]
        actions: Vec<u32>,
        #[serde(flatten, serialize_with = "message")]
        message: &'static str,
    }

    fn actions<S: Serializer>(actions: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
        serialize_some(["actions", "deeds"], actions, serializer)
    }

    fn message<S: Serializer>(message: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(["message", "told"], message, serializer)
    }

    #[test]
    fn a_value_has_both_keys_and_an_empty_collection_none() {
        let mut report = Report {
            frames: 1,
            actions: vec![2],
            message: "x",
        };
        let text = serde_json::to_string(&report).expect("it is JSON");
        let both = r#"{"frames":1,"actions":[2],"deeds":[2],"message":"x","told":"x"}"#;
        assert_eq!(text, both);
        report.actions.clear();
        let text = serde_json::to_string(&report).expect("it is JSON");
        assert_eq!(text, r#"{"frames":1,"message":"x","told":"x"}"#);
    }
}
