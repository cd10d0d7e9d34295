//! Rooms of a crate: what stands side by side in a folder of its sources, a file or a folder each.
//!
//! ```text
//!  arrows from file to file --> files below a room are one node --> arrows from room to room
//! ```
//!
//! The file that holds a folder's face (`lib.rs`, `mod.rs`) is a room of that name, so what it uses
//! of the others counts.
use super::graph::{circles, Arrows, Circle};
use std::collections::{BTreeMap, BTreeSet};

/// The room in `folder` that `file` belongs to: `device/tables/stag.rs` is of `device` in the
/// crate's own folder, ``, and of `tables` in `device/`. `None` for a file elsewhere.
fn room_of<'a>(folder: &str, file: &'a str) -> Option<&'a str> {
    let inside = file.strip_prefix(folder)?;
    let first = inside.split('/').next().unwrap_or(inside);
    Some(first.trim_end_matches(".rs"))
}

/// The rooms in `folder` of a crate with these files, but the file of the folder itself and its
/// tests.
pub fn rooms<'a>(folder: &str, files: impl Iterator<Item = &'a String>) -> BTreeSet<&'a str> {
    let rooms = files.filter_map(|file| room_of(folder, file));
    rooms
        .filter(|room| !["lib", "mod", "tests"].contains(room))
        .collect()
}

/// The arrows between the rooms in `folder`, each with the names taken.
pub fn room_arrows(folder: &str, arrows: &Arrows) -> Arrows {
    let mut between = Arrows::new();
    for (from, targets) in arrows {
        let Some(from) = room_of(folder, from) else {
            continue;
        };
        let of_room = between.entry(from.to_owned()).or_default();
        for (to, names) in targets {
            match room_of(folder, to) {
                Some(to) if to != from => {
                    let taken = of_room.entry(to.to_owned()).or_default();
                    taken.extend(names.iter().cloned());
                }
                _ => {}
            }
        }
    }
    between
}

/// Rooms that import each other.
pub fn room_circles(folder: &str, arrows: &Arrows) -> Vec<Circle> {
    circles(&room_arrows(folder, arrows))
}

/// How many arrows there are.
pub fn count(arrows: &Arrows) -> usize {
    arrows.values().map(BTreeMap::len).sum()
}
