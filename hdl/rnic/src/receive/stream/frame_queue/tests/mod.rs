//! Frame queue, shares and page walk, each alone.
mod frame_queue;
mod frame_shares;
mod page_walk;
