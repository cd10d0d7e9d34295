//! Two devices of this process on one wire, and connections between them through the driver.
//!
//! `hostile*`: one device, and a peer that is not ours ([`stranger`]) and does what it should not.

mod basics;
mod batches;
mod ends;
mod erring;
mod linux;
mod loss;
mod comings;
mod many;
mod own_loop;
mod raw;
mod records;
mod scene;
mod sharing;
mod wire;
mod hostile;
mod hostile_ground;
mod hostile_meeting;
mod hostile_bystander;
mod hostile_frames;
mod hostile_startup;
mod hostile_mpa;
mod hostile_ddp;
mod hostile_rdmap;
mod hostile_terminate;
mod hostile_odd;
mod hostile_tcp;
mod hostile_path;
mod hostile_silence;
mod hostile_rtl;
mod start_up;

use rnic_peer as stranger;
