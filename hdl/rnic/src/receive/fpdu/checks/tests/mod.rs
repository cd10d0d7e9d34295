mod marker_check;
mod record;
