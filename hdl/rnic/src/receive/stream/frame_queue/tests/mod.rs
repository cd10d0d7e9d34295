mod frame_queue;
mod frame_shares;
mod page_walk;
