//! Random operations from a seed, each done twice: by the file system and by the model.

use super::super::{Error, FileId, Files, Kind, Loan, New, SetAttributes, Source};
use super::model::{Body, Model, Number, ROOT};
use super::{at, files, Octets, MODE};
use rpcrdma::place::Place;
use std::collections::BTreeMap;

/// Numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }

    fn octets(&mut self, length: usize) -> Vec<u8> {
        let first = self.below(251);
        (0..length as u64)
            .map(|at| (first + at * 7 % 253) as u8)
            .collect()
    }
}

/// A piece that was read, and what was in it.
struct Lent {
    place: Place,
    octets: Vec<u8>,
    loan: Option<Loan>,
}

struct Both {
    files: Files<Octets>,
    model: Model,
    ids: BTreeMap<Number, FileId>,
    lent: Vec<Lent>,
    random: Random,
    now: u32,
    refused: u32,
}

impl Both {
    fn new(seed: u64) -> Self {
        let files = files(4, 40);
        Self {
            ids: BTreeMap::from([(ROOT, files.root())]),
            files,
            model: Model::new(),
            lent: Vec::new(),
            random: Random(seed),
            now: 0,
            refused: 0,
        }
    }

    fn any(&mut self) -> (Number, FileId) {
        let at = self.random.below(self.ids.len() as u64) as usize;
        let (number, id) = self.ids.iter().nth(at).expect("below their count");
        (*number, *id)
    }

    fn name(&mut self) -> Vec<u8> {
        format!("n{}", self.random.below(6)).into_bytes()
    }

    /// Both have done it, or refused it for the same reason. Of memory and numbers the model has
    /// no end: `false`, it is to be undone there.
    fn same(&mut self, real: Result<(), Error>, model: Result<(), Error>) -> bool {
        if real == Err(Error::NoSpace) && model.is_ok() {
            self.refused += 1;
            return false;
        }
        assert_eq!(real, model);
        true
    }

    fn make(&mut self) {
        let ((number, id), name) = (self.any(), self.name());
        let path = self.random.octets(1 + self.now as usize % 300);
        let (new, body) = match self.random.below(4) {
            0 => (New::Directory, Body::Directory(BTreeMap::new())),
            1 => (New::Link(Source::Octets(&path)), Body::Link(path.clone())),
            _ => (New::File(None), Body::File(Vec::new())),
        };
        let real = self.files.make(id, &name, new, MODE, at(self.now));
        let model = self.model.make(number, &name, body);
        let is_same = self.same(real.map(drop), model.map(drop));
        match (is_same, real, model) {
            (true, Ok(id), Ok(number)) => drop(self.ids.insert(number, id)),
            (false, _, Ok(made)) => {
                let is_directory = matches!(self.model.bodies[&made], Body::Directory(_));
                let undone = self.model.remove(number, &name, is_directory);
                undone.expect("it was made");
            }
            _ => {}
        }
    }

    fn offset(&mut self) -> u64 {
        match self.random.below(3) {
            0 => self.random.below(3 << 20),
            1 => self.random.below(3) << 20,
            _ => self.random.below(9_000),
        }
    }

    fn write(&mut self) {
        let ((number, id), offset) = (self.any(), self.offset());
        let length = match self.random.below(8) {
            0 => self.random.below(1 << 20),
            _ => self.random.below(9_000),
        };
        let octets = self.random.octets(length as usize);
        let written = self
            .files
            .write(id, offset, Source::Octets(&octets), at(self.now));
        let Some(Body::File(content)) = self.model.bodies.get_mut(&number) else {
            written.expect_err("no file");
            return;
        };
        let written = written.unwrap_or_else(|error| {
            assert_eq!(error, Error::NoSpace);
            self.refused += 1;
            0
        });
        if written > 0 {
            let end = offset as usize + written as usize;
            content.resize(content.len().max(end), 0);
            content[offset as usize..end].copy_from_slice(&octets[..written as usize]);
        }
    }

    fn resize(&mut self) {
        let ((number, id), size) = (self.any(), self.offset());
        let set = SetAttributes {
            size: Some(size),
            ..SetAttributes::default()
        };
        let done = self.files.set(id, &set, None, at(self.now));
        match self.model.bodies.get_mut(&number) {
            Some(Body::File(content)) => {
                content.resize(size as usize, 0);
                done.expect("a file");
            }
            _ => drop(done.expect_err("no file")),
        }
    }

    /// Read a piece, and keep it for a while.
    fn read(&mut self) {
        let ((number, id), offset) = (self.any(), self.offset());
        let count = 1 + self.random.below(100_000) as u32;
        let read = self.files.read(id, offset, count);
        let Some(Body::File(content)) = self.model.bodies.get(&number) else {
            read.expect_err("no file");
            return;
        };
        let (place, loan, is_end) = read.expect("a file");
        let left = content.get(offset as usize..).unwrap_or_default();
        assert_eq!(
            place.length > 0,
            !left.is_empty(),
            "a piece, unless at the end"
        );
        let octets = left[..place.length as usize].to_vec();
        assert_eq!(is_end, octets.len() == left.len());
        assert!(
            self.files.octets_at(place) == octets,
            "{number} at {offset}"
        );
        self.lent.push(Lent {
            place,
            octets,
            loan,
        });
    }

    /// What was lent is still what it was.
    fn give_back(&mut self) {
        if self.lent.is_empty() {
            return;
        }
        let at = self.random.below(self.lent.len() as u64) as usize;
        let lent = self.lent.swap_remove(at);
        assert!(self.files.octets_at(lent.place) == lent.octets);
        lent.loan
            .into_iter()
            .for_each(|loan| self.files.give_back(loan));
    }

    fn rename(&mut self) {
        let ((from, from_id), old) = (self.any(), self.name());
        let ((to, to_id), new) = (self.any(), self.name());
        let real = self
            .files
            .rename((from_id, &old), (to_id, &new), at(self.now));
        let model = self.model.rename((from, &old), (to, &new));
        assert!(self.same(real, model));
        self.forget_deleted();
    }

    fn remove(&mut self) {
        let ((number, id), name) = (self.any(), self.name());
        let is_directory = self.random.below(3) == 0;
        let real = self.files.remove(id, &name, is_directory, at(self.now));
        let model = self.model.remove(number, &name, is_directory);
        assert!(self.same(real, model));
        self.forget_deleted();
    }

    fn link(&mut self) {
        let ((number, id), (directory, directory_id), name) = (self.any(), self.any(), self.name());
        let real = self.files.link(id, directory_id, &name, at(self.now));
        let model = self.model.link(number, directory, &name);
        assert!(self.same(real, model));
    }

    /// Numbers of what is gone are stale, also when they are another file's.
    fn forget_deleted(&mut self) {
        let gone = self
            .ids
            .iter()
            .filter(|(number, _)| !self.model.bodies.contains_key(number));
        for (_, id) in gone {
            assert_eq!(self.files.attributes(*id), Err(Error::Stale));
        }
        self.ids
            .retain(|number, _| self.model.bodies.contains_key(number));
    }

    fn compare(&mut self) {
        for (number, id) in &self.ids {
            let known = self.files.attributes(*id).expect("it is there");
            let (kind, size) = match &self.model.bodies[number] {
                Body::File(content) => (Kind::File, content.len()),
                Body::Link(path) => (Kind::Link, path.len()),
                Body::Directory(names) => (Kind::Directory, names.len()),
            };
            assert_eq!((known.kind, known.size), (kind, size as u64));
            match &self.model.bodies[number] {
                Body::Directory(names) => {
                    let listed = self.files.list(*id, 2).expect("a directory");
                    let listed: BTreeMap<_, _> =
                        listed.map(|entry| (entry.name, entry.file)).collect();
                    let named = names
                        .iter()
                        .map(|(name, inner)| (name.clone(), self.ids[inner]));
                    assert_eq!(listed, named.collect());
                }
                Body::Link(path) => {
                    let (place, loan) = self.files.read_link(*id).expect("a link");
                    assert!(self.files.octets_at(place) == *path);
                    loan.into_iter().for_each(|loan| self.files.give_back(loan));
                    assert_eq!(known.links as usize, self.model.links(*number));
                }
                Body::File(_) => assert_eq!(known.links as usize, self.model.links(*number)),
            }
        }
    }

    fn step(&mut self) {
        self.now += 1;
        match self.random.below(20) {
            0..=3 => self.make(),
            4..=8 => self.write(),
            9..=10 => self.resize(),
            11..=13 => self.read(),
            14..=15 => self.give_back(),
            16 => self.rename(),
            17 => self.link(),
            _ => self.remove(),
        }
        if self.lent.len() > 20 {
            self.give_back();
        }
    }

    /// Everything is removed and given back: nothing is in use.
    fn end(mut self) -> u32 {
        while !self.lent.is_empty() {
            self.give_back();
        }
        assert_eq!(self.files.loans(), 0);
        while self.ids.len() > 1 {
            self.remove();
        }
        let usage = self.files.usage();
        assert_eq!(usage.octets_free, usage.octets);
        assert_eq!(usage.files_free, usage.files - 1);
        self.refused
    }
}

#[test]
fn random_operations_are_those_of_the_model() {
    let mut refused = 0;
    for seed in 0..12 {
        println!("seed {seed}");
        let mut both = Both::new(seed);
        for step in 0..1_500 {
            both.step();
            if step % 50 == 0 {
                both.compare();
            }
        }
        both.compare();
        refused += both.end();
    }
    assert!(refused > 10, "memory and numbers ran out {refused} times");
}
