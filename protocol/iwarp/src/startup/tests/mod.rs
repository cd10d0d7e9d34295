//! Start-up: each end alone against octets written here, all pairs of ends, and malformed frames.

mod enhanced;
mod every_state;
mod frames;
mod initiator;
mod pairs;
mod responder;
mod standard;

use super::*;

/// A frame, octet by octet: the key's letter, flags, revision, Private Data.
fn frame(letter: u8, flags: u8, revision: u8, private_data: &[u8]) -> Vec<u8> {
    let mut octets = b"MPA ID Re? Frame".to_vec();
    octets[9] = letter;
    octets.extend([flags, revision]);
    octets.extend((private_data.len() as u16).to_be_bytes());
    octets.extend(private_data);
    octets
}

fn request(flags: u8, revision: u8, private_data: &[u8]) -> Vec<u8> {
    frame(b'q', flags, revision, private_data)
}

fn reply(flags: u8, revision: u8, private_data: &[u8]) -> Vec<u8> {
    frame(b'p', flags, revision, private_data)
}

/// Every revision, either version of revision 0, and frames as long as there are.
fn permissive() -> Settings {
    Settings {
        revision_min: 0,
        private_data_octets_max: 0xffff,
        ..Settings::default()
    }
}

fn initiator(settings: Settings) -> Initiator {
    let mut initiator = Initiator::new(settings, b"", 0).expect("settings");
    let first = initiator.poll(0);
    assert!(matches!(first, Some(InitiatorOutput::Request(_))));
    initiator
}

fn responder(settings: Settings) -> Responder {
    Responder::new(settings, 0).expect("settings")
}

/// What an initiator makes of octets that arrive at once.
fn initiator_after(settings: Settings, octets: &[u8]) -> Option<InitiatorOutput> {
    let mut initiator = initiator(settings);
    initiator.feed(octets);
    initiator.poll(0)
}

fn initiator_error(settings: Settings, octets: &[u8]) -> StartupError {
    match initiator_after(settings, octets) {
        Some(InitiatorOutput::Failed { error, .. }) => error,
        other => panic!("{other:?}"),
    }
}

fn agreed(settings: Settings, octets: &[u8]) -> Agreed {
    match initiator_after(settings, octets) {
        Some(InitiatorOutput::Agreed(agreed)) => agreed,
        other => panic!("{other:?}"),
    }
}

fn responder_after(settings: Settings, octets: &[u8]) -> Option<ResponderOutput> {
    let mut responder = responder(settings);
    responder.feed(octets);
    responder.poll(0)
}

fn responder_error(settings: Settings, octets: &[u8]) -> StartupError {
    match responder_after(settings, octets) {
        Some(ResponderOutput::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// A responder that has a Request to answer.
fn deciding(settings: Settings, octets: &[u8]) -> Responder {
    let mut responder = responder(settings);
    assert_eq!(responder.feed(octets), octets.len());
    let output = responder.poll(0);
    assert!(
        matches!(output, Some(ResponderOutput::Request(_))),
        "{output:?}"
    );
    responder
}

fn accepted(settings: Settings, octets: &[u8]) -> Accepted {
    let accepted = deciding(settings, octets).accept(b"");
    accepted.expect("it can be accepted")
}
