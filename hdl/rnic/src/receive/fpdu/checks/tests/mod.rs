//! Marker check and record maker, each alone.
mod marker_check;
mod record;
