//! The top of a board: the core, and around it the self-test. It connects; nothing is decided here.
//!
//! ```text
//! clock12 --> Pll --> clock of all           button_n, locked --> BitSync --> Startup --> reset
//!
//! ScriptRom --> Player --> requests, completions, frames --> Rnic64
//!                 ^  \                                          |
//!                 |   \--> Report <-- Console <-- BitSync 5 <-- JtagTap
//!                 +------- Signature 2 <-- posted TLPs, read requests
//! Startup, Player --> Leds --> led_n
//! ```
//!
//! | latency | a bit that crosses comes 2 cycles later                                     |
//! | units   | cycles of the core's clock, 60 MHz; the tick is a microsecond               |
use crate::bit_sync::BitSync;
use crate::console::Console;
use crate::jtag_tap::JtagTap;
use crate::leds::Leds;
use crate::player::Player;
use crate::pll::Pll;
use crate::report::Report;
use crate::script::Word;
use crate::script_rom::ScriptRom;
use crate::signature::Signature;
use crate::startup::Startup;
use rnic_hdl::top::Rnic64;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// The board's top: pins only.
#[derive(LogicBlock)]
pub struct Board {
    /// The board's clock, 12 MHz.
    pub clock12: Signal<In, Clock>,
    /// Low while pressed.
    pub button_n: Signal<In, Bit>,
    /// Low lights.
    pub led_n: Signal<Out, Bits<8>>,
    pll: Pll,
    locked: BitSync,
    button: BitSync,
    startup: Startup,
    core: Rnic64,
    script: ScriptRom,
    player: Player,
    tlps: Signature,
    reads: Signature,
    report: Report,
    console: Console,
    tap: JtagTap,
    tck: BitSync,
    tdi: BitSync,
    select: BitSync,
    shift: BitSync,
    update_dr: BitSync,
    leds: Leds,
    restart: Signal<Local, Bit>,
    core_reset: Signal<Local, Bit>,
}

impl Board {
    /// The board with this script, every pin connected, ready to be emitted.
    pub fn standalone(script: &[Word]) -> Self {
        let mut board = Self {
            clock12: Default::default(),
            button_n: Default::default(),
            led_n: Default::default(),
            pll: Default::default(),
            locked: Default::default(),
            button: Default::default(),
            startup: Default::default(),
            core: Default::default(),
            script: ScriptRom::new(script),
            player: Default::default(),
            tlps: Default::default(),
            reads: Default::default(),
            report: Default::default(),
            console: Default::default(),
            tap: Default::default(),
            tck: Default::default(),
            tdi: Default::default(),
            select: Default::default(),
            shift: Default::default(),
            update_dr: Default::default(),
            leds: Default::default(),
            restart: Default::default(),
            core_reset: Default::default(),
        };
        board.clock12.connect();
        board.button_n.connect();
        board.connect_all();
        board
    }
}

impl Logic for Board {
    #[kernel]
    fn update(&mut self) {
        // Clock, reset, and the bits that cross into this clock.
        self.pll.reference.next = self.clock12.val();
        wire!(self.pll => self.{
            locked, button, startup, core, script, player, tlps, reads, report, console, tck, tdi,
            select, shift, update_dr
        }; clock);
        self.locked.data.next = self.pll.locked.val();
        self.button.data.next = self.button_n.val();
        self.startup.locked.next = self.locked.synced.val();
        self.startup.button_n.next = self.button.synced.val();
        self.restart.next = self.startup.reset.val() | self.console.run.val();
        self.core_reset.next = self.restart.val() | self.player.core_reset.val();
        // Script to player, player to core.
        self.script.address.next = self.player.address.val();
        self.player.word.next = self.script.word.val();
        self.player.reset.next = self.restart.val();
        wire!(self.player => self.core;
            header as request_header, data as request_data, last as request_last, request_valid);
        self.player.request_ready.next = self.core.request_ready.val();
        wire!(self.player => self.core;
            header as completion_header, data as completion_data, keep as completion_keep,
            last as completion_last, completion_valid);
        wire!(self.player => self.core;
            frame_data, octets as frame_octets, last as frame_last, frame_valid);
        // What a board without bus and wire gives the core.
        self.core.reset.next = self.core_reset.val();
        self.core.device_id.next = 0x0100.into();
        self.core.frame_error.next = false;
        self.core.msix_enable.next = false;
        self.core.msix_mask.next = false;
        self.core.tick.next = self.startup.tick.val();
        self.core.tx_ready.next = true;
        self.core.tx_pause.next = false;
        // Core to signatures.
        wire!(self.core => self.tlps;
            tlp_header as header, tlp_data as data, tlp_keep as keep, tlp_last as last,
            tlp_valid as valid);
        self.core.tlp_ready.next = self.tlps.ready.val();
        wire!(self.core => self.reads;
            read_request_header as header, read_request_valid as valid);
        // Requests have no payload: whatever is there, nothing of it is kept.
        self.reads.data.next = self.core.tlp_data.val();
        self.reads.keep.next = 0.into();
        self.reads.last.next = true;
        self.core.read_request_ready.next = self.reads.ready.val();
        self.tlps.clear.next = self.core_reset.val();
        self.reads.clear.next = self.core_reset.val();
        self.player.tlps.next = self.tlps.count.val();
        self.player.reads.next = self.reads.count.val();
        self.player.tlps_signature.next = self.tlps.signature.val();
        self.player.reads_signature.next = self.reads.signature.val();
        self.player.answer.next = self.tlps.answer.val();
        // Report and console.
        wire!(self.player => self.report;
            report_word as word, report_is_value as is_value, report_write as write);
        self.player.report_busy.next = self.report.busy.val();
        self.report.clear.next = self.restart.val();
        self.report.read_address.next = self.console.read_address.val();
        wire!(self.report => self.console; read_data, length);
        wire!(self.console => self.player; spoil_frame, spoil_signature);
        self.console.reset.next = self.startup.reset.val();
        self.tck.data.next = self.tap.tck.val();
        self.tdi.data.next = self.tap.tdi.val();
        self.select.data.next = self.tap.select.val();
        self.shift.data.next = self.tap.shift.val();
        self.update_dr.data.next = self.tap.update.val();
        self.console.tck.next = self.tck.synced.val();
        self.console.tdi.next = self.tdi.synced.val();
        self.console.select.next = self.select.synced.val();
        self.console.shift.next = self.shift.synced.val();
        self.console.update_dr.next = self.update_dr.synced.val();
        self.tap.tdo.next = self.console.tdo.val();
        // LEDs.
        self.leds.reset.next = self.startup.reset.val();
        wire!(self.player => self.leds; done, good, scenes);
        self.led_n.next = self.leds.led_n.val();
    }
}
