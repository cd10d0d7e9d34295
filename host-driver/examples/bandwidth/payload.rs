//! The octets of a message, which either end knows: those of a period that no segment has.

use rnic_examples::failure::Failure;

/// A prime, so that octets of another place differ.
const PERIOD: usize = 251;

/// A message.
pub fn pattern(octets: usize) -> Vec<u8> {
    (0..PERIOD)
        .map(|octet| octet as u8)
        .cycle()
        .take(octets)
        .collect()
}

/// A message is as it was sent.
///
/// # Errors
/// The first octet that differs, of `what`.
pub fn compare(what: &str, found: &[u8]) -> Result<(), Failure> {
    let mut octets = found.iter().enumerate();
    match octets.find(|(at, octet)| at % PERIOD != usize::from(**octet)) {
        None => Ok(()),
        Some((at, octet)) => {
            let sent = at % PERIOD;
            let differs = format!("octet {at} is {octet:#04x}, where {sent:#04x} was expected");
            Err(format!("{what}: {differs}; is the peer bandwidth?").into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_compared_to_its_last_octet() {
        let mut message = pattern(1000);
        compare("a message", &message).expect("as it was made");
        message[999] ^= 1;
        compare("a message", &message).expect_err("its last octet differs");
        compare("a message", &pattern(300)[1..]).expect_err("they begin one later");
    }
}
