//! Files as vectors and directories as maps: slow, and easily seen to be right.

use super::super::Error;
use std::collections::BTreeMap;

pub type Number = usize;

#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    File(Vec<u8>),
    Directory(BTreeMap<Vec<u8>, Number>),
    Link(Vec<u8>),
}

/// Files by a number that is never used again.
#[derive(Debug)]
pub struct Model {
    pub bodies: BTreeMap<Number, Body>,
    next: Number,
}

pub const ROOT: Number = 0;

impl Model {
    pub fn new() -> Self {
        Self {
            bodies: BTreeMap::from([(ROOT, Body::Directory(BTreeMap::new()))]),
            next: ROOT + 1,
        }
    }

    pub fn names(&self, directory: Number) -> Result<&BTreeMap<Vec<u8>, Number>, Error> {
        match self.bodies.get(&directory) {
            None => Err(Error::Stale),
            Some(Body::Directory(names)) => Ok(names),
            Some(_) => Err(Error::NotDirectory),
        }
    }

    fn names_mut(&mut self, directory: Number) -> &mut BTreeMap<Vec<u8>, Number> {
        match self.bodies.get_mut(&directory) {
            Some(Body::Directory(names)) => names,
            other => panic!("{other:?} was a directory before"),
        }
    }

    pub fn links(&self, file: Number) -> usize {
        let all = self.bodies.values().filter_map(|body| match body {
            Body::Directory(names) => Some(names.values()),
            _ => None,
        });
        all.flatten().filter(|named| **named == file).count()
    }

    fn is_directory(&self, file: Number) -> bool {
        matches!(self.bodies[&file], Body::Directory(_))
    }

    fn is_below(&self, directory: Number, above: Number) -> bool {
        let inside = match &self.bodies[&above] {
            Body::Directory(names) => names.values().any(|inner| self.is_below(directory, *inner)),
            _ => false,
        };
        directory == above || inside
    }

    pub fn make(&mut self, directory: Number, name: &[u8], body: Body) -> Result<Number, Error> {
        if self.names(directory)?.contains_key(name) {
            return Err(Error::Exists);
        }
        let number = self.next;
        self.next += 1;
        self.bodies.insert(number, body);
        self.names_mut(directory).insert(name.to_vec(), number);
        Ok(number)
    }

    pub fn link(&mut self, file: Number, directory: Number, name: &[u8]) -> Result<(), Error> {
        if self.is_directory(file) {
            return Err(Error::IsDirectory);
        }
        if self.names(directory)?.contains_key(name) {
            return Err(Error::Exists);
        }
        self.names_mut(directory).insert(name.to_vec(), file);
        Ok(())
    }

    fn drop_unnamed(&mut self, file: Number) {
        if self.links(file) == 0 {
            self.bodies.remove(&file);
        }
    }

    pub fn remove(
        &mut self,
        directory: Number,
        name: &[u8],
        is_directory: bool,
    ) -> Result<(), Error> {
        let names = self.names(directory)?;
        let file = *names.get(name).ok_or(Error::NotFound)?;
        match (self.is_directory(file), is_directory) {
            (true, false) => return Err(Error::IsDirectory),
            (false, true) => return Err(Error::NotDirectory),
            (true, true) if !self.names(file)?.is_empty() => return Err(Error::NotEmpty),
            _ => {}
        }
        self.names_mut(directory).remove(name);
        self.drop_unnamed(file);
        Ok(())
    }

    pub fn rename(
        &mut self,
        (from, old): (Number, &[u8]),
        (to, new): (Number, &[u8]),
    ) -> Result<(), Error> {
        let (sources, targets) = (self.names(from)?, self.names(to)?);
        let file = *sources.get(old).ok_or(Error::NotFound)?;
        let target = targets.get(new).copied();
        let is_directory = self.is_directory(file);
        if is_directory && self.is_below(to, file) {
            return Err(Error::Invalid);
        }
        if target == Some(file) {
            return Ok(());
        }
        if let Some(target) = target {
            match (is_directory, self.is_directory(target)) {
                (true, false) => return Err(Error::NotDirectory),
                (false, true) => return Err(Error::IsDirectory),
                (true, true) if !self.names(target)?.is_empty() => return Err(Error::NotEmpty),
                _ => {}
            }
        }
        self.names_mut(from).remove(old);
        self.names_mut(to).insert(new.to_vec(), file);
        if let Some(target) = target {
            self.drop_unnamed(target);
        }
        Ok(())
    }
}
