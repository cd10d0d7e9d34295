//! Names to the files that define them, and circles among the files.
use super::source::{Crate, ModuleId};
use std::collections::{BTreeMap, BTreeSet};

/// For each file, the files that it takes names from, and these names.
pub type Arrows = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// What a path leads to.
enum Target {
    Module(ModuleId),
    /// A definition in a module, and its name there.
    Item(ModuleId, String),
}

/// Names that are being looked up, so that re-exports in a loop end.
type Visited = BTreeSet<(ModuleId, String)>;

impl Crate {
    /// The arrows between the crate's files.
    pub fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (id, module) in self.modules.iter().enumerate() {
            let from = arrows.entry(module.file.clone()).or_default();
            for path in &module.paths {
                let Some(Target::Item(owner, name)) = self.resolve(id, path, &mut Visited::new())
                else {
                    continue;
                };
                let file = &self.modules[owner].file;
                if *file != module.file {
                    from.entry(file.clone()).or_default().insert(name);
                }
            }
        }
        arrows
    }

    /// Where `path`, as `module` writes it, leads; `None` if out of the crate.
    fn resolve(&self, module: ModuleId, path: &[String], visited: &mut Visited) -> Option<Target> {
        let (first, mut rest) = path.split_first()?;
        let mut target = match first.as_str() {
            "crate" => Target::Module(self.modules[module].root),
            "self" => Target::Module(module),
            "super" => Target::Module(self.modules[module].parent?),
            name => self.look_up(module, name, visited)?,
        };
        while let (Target::Module(inner), Some((name, tail))) = (&target, rest.split_first()) {
            let inner = *inner;
            target = match name.as_str() {
                "super" => Target::Module(self.modules[inner].parent?),
                "self" => Target::Module(inner),
                // What is not seen there was made by a macro of that file.
                _ => self
                    .look_up(inner, name, visited)
                    .unwrap_or_else(|| Target::Item(inner, name.clone())),
            };
            rest = tail;
        }
        Some(target)
    }

    /// What `name` means in `module`.
    fn look_up(&self, module: ModuleId, name: &str, visited: &mut Visited) -> Option<Target> {
        if !visited.insert((module, name.to_owned())) {
            return None;
        }
        let scope = &self.modules[module];
        if scope.defined.contains(name) {
            return Some(Target::Item(module, name.to_owned()));
        }
        if let Some(&child) = scope.children.get(name) {
            return Some(Target::Module(child));
        }
        if let Some(path) = scope.bound.get(name) {
            // The first name of `use x::y` may be a crate of the same name as the binding.
            return self.resolve(module, path, visited);
        }
        scope.globs.iter().find_map(|path| {
            let glob = self.resolve(module, path, &mut visited.clone())?;
            match glob {
                Target::Module(inner) => self.look_up(inner, name, visited),
                Target::Item(..) => None,
            }
        })
    }
}

/// Files that reach each other, and the arrows between them.
pub struct Circle {
    pub files: Vec<String>,
    pub arrows: Vec<(String, String, BTreeSet<String>)>,
}

/// The strongly connected components of more than one file.
pub fn circles(arrows: &Arrows) -> Vec<Circle> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = arrows
        .keys()
        .map(|file| (file, reached_from(arrows, file)))
        .collect();
    let mut circles = Vec::new();
    let mut placed = BTreeSet::new();
    for (file, others) in &reached {
        let returns =
            |other: &&&String| reached.get(**other).is_some_and(|set| set.contains(*file));
        let files: BTreeSet<&String> = others.iter().filter(returns).copied().collect();
        if files.is_empty() || !placed.insert(files.clone()) {
            continue;
        }
        let tied = files.iter().flat_map(|from| {
            let targets = arrows[*from].iter();
            let inside = targets.filter(|(to, _)| files.contains(to));
            inside.map(|(to, names)| ((*from).clone(), to.clone(), names.clone()))
        });
        circles.push(Circle {
            arrows: tied.collect(),
            files: files.iter().copied().cloned().collect(),
        });
    }
    circles
}

/// All files that arrows lead to from `file`, itself only if one leads back.
fn reached_from<'a>(arrows: &'a Arrows, file: &String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&String> = arrows[file].keys().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(arrows.get(next).into_iter().flat_map(BTreeMap::keys));
        }
    }
    reached
}
