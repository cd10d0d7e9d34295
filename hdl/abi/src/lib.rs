//! BAR map, table, descriptor and completion layouts and limits of the Ferrowarp RNIC.
#![deny(missing_docs)]
