//! TCP room: header words and checksum here; lookup and acceptance beside them.
pub mod head;
pub mod checksum;
