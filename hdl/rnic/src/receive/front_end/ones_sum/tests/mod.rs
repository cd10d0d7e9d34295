//! One's complement sums: of a beat and of a frame.
mod ones_sum;
mod stream_sum;
