//! Outputs as a command writes them: what is refused, what stays, and what takes whose place.

use rnic_output::{Claims, OutputError};
use std::fs;
use std::os::unix::fs::{symlink, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const CAPTURE: [u8; 24] = [
    0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0,
];

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn file(folder: &TempDir, name: &str, octets: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, octets).expect("room");
    path
}

/// Names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("a name").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("UTF-8")).collect();
    names.sort();
    names
}

/// Writes `text` to `path` as a command does.
fn write(path: &Path, text: &str) -> Result<(), OutputError> {
    let mut output = Claims::new().output("--json", path)?;
    output.write(text.as_bytes())?;
    output.finish()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

#[test]
fn a_report_is_replaced_at_the_end_and_keeps_its_permissions() {
    let folder = folder();
    let path = file(&folder, "report", b"old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("ours");
    let mut output = Claims::new().output("--json", &path).expect("a report");
    output.write(b"new ").expect("room");
    output.write(b"text").expect("room");
    assert_eq!(text(&path), "old");
    output.finish().expect("it is renamed");
    assert_eq!(text(&path), "new text");
    let mode = fs::metadata(&path).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(names(folder.path()), ["report"]);
}

/// As `File::create` leaves it, for whoever reads the reports of others.
#[test]
fn a_new_file_has_the_permissions_of_any_new_file() {
    let folder = folder();
    let other = file(&folder, "other", b"");
    let path = folder.path().join("report");
    write(&path, "text").expect("room");
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode();
    assert_eq!(mode(&path), mode(&other));
}

#[test]
fn what_is_not_finished_changes_nothing_and_leaves_nothing() {
    let folder = folder();
    let path = file(&folder, "report", b"old");
    for name in ["report", "new"] {
        let path = folder.path().join(name);
        let mut output = Claims::new().output("--json", &path).expect("a report");
        output.write(b"new").expect("room");
        drop(output);
    }
    assert_eq!(text(&path), "old");
    assert_eq!(names(folder.path()), ["report"]);
}

#[test]
fn what_ends_early_is_kept_where_nothing_was() {
    let folder = folder();
    let earlier = file(&folder, "earlier", b"old");
    let new = folder.path().join("new");
    for (path, is_kept, holds) in [(&earlier, false, "old"), (&new, true, "part")] {
        let mut output = Claims::new().output("--json", path).expect("a report");
        output.write(b"part").expect("room");
        assert_eq!(output.keep_beside_earlier().expect("a name"), is_kept);
        assert_eq!(text(path), holds);
    }
    assert_eq!(names(folder.path()), ["earlier", "new"]);
}

#[test]
fn an_input_is_no_output_whatever_its_name() {
    let folder = folder();
    let input = file(&folder, "input", b"[[region]]\n");
    let (link, hard) = (folder.path().join("link"), folder.path().join("hard"));
    symlink("input", &link).expect("a link");
    fs::hard_link(&input, &hard).expect("a link");
    let roundabout = folder.path().join("../").join(
        folder
            .path()
            .file_name()
            .map(|name| Path::new(name).join("input"))
            .expect("a name"),
    );
    for path in [&input, &link, &hard, &roundabout] {
        for read in [&input, &link, &hard] {
            let mut claims = Claims::new();
            claims.input(read);
            for refused in [
                claims.output("--json", path).map(drop),
                claims.output_over_capture("--out", path).map(drop),
                claims.regular("--trace", path).map(drop),
            ] {
                let refused = refused.expect_err("it is read");
                assert!(matches!(refused, OutputError::IsInput { .. }), "{refused}");
            }
        }
    }
    assert_eq!(text(&input), "[[region]]\n");
}

#[test]
fn a_capture_is_replaced_only_if_that_is_asked_for() {
    let folder = folder();
    let capture = file(&folder, "a.pcap", &CAPTURE);
    let link = folder.path().join("link");
    symlink(&capture, &link).expect("a link");
    for path in [&capture, &link] {
        let refused = Claims::new().output("--json", path).expect_err("a capture");
        let words = refused.to_string();
        assert!(
            words.starts_with("--json ") && words.contains(&path.display().to_string()),
            "{words}"
        );
        assert!(matches!(refused, OutputError::IsCapture { .. }), "{words}");
    }
    assert_eq!(fs::read(&capture).expect("a file"), CAPTURE);
    let mut output = Claims::new()
        .output_over_capture("--out", &link)
        .expect("asked for");
    output.write(b"new").expect("room");
    output.finish().expect("it is renamed");
    assert_eq!(text(&capture), "new");
}

#[test]
fn two_outputs_are_two_files() {
    let folder = folder();
    let (path, dotted) = (folder.path().join("x"), folder.path().join("./x"));
    let mut claims = Claims::new();
    let _first = claims.output("--json", &path).expect("room");
    let refused = claims.output("--html", &dotted).expect_err("the same file");
    assert!(
        refused.to_string().contains("--json writes there as well"),
        "{refused}"
    );
    claims
        .output("--html", &folder.path().join("y"))
        .expect("another");
    claims.output("--out", Path::new("-")).expect("stdout");
    claims
        .output("--json", Path::new("-"))
        .expect_err("stdout twice");
}

#[test]
fn links_stay_links() {
    let folder = folder();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("room");
    for name in ["there", "not-yet"] {
        let (link, again) = (folder.path().join(name), folder.path().join("again"));
        symlink(Path::new("elsewhere").join(name), &link).expect("a link");
        symlink(name, &again).expect("a link");
        if name == "there" {
            fs::write(elsewhere.join(name), "old").expect("room");
        }
        write(&again, "new").expect("room");
        for link in [&link, &again] {
            let found = fs::symlink_metadata(link).expect("a link");
            assert!(found.is_symlink(), "{}", link.display());
        }
        assert_eq!(text(&elsewhere.join(name)), "new");
        fs::remove_file(&again).expect("ours");
    }
    assert_eq!(names(folder.path()), ["elsewhere", "not-yet", "there"]);
    assert_eq!(names(&elsewhere), ["not-yet", "there"]);
    let circle = folder.path().join("circle");
    symlink("circle", &circle).expect("a link");
    write(&circle, "").expect_err("it leads nowhere");
}

#[test]
fn a_pipe_is_written_and_stays_one() {
    let folder = folder();
    let path = folder.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .expect("a pipe");
    let reader = std::thread::spawn({
        let path = path.clone();
        move || text(&path)
    });
    write(&path, "through a pipe").expect("it has a reader");
    assert_eq!(reader.join().expect("it reads"), "through a pipe");
    let found = fs::symlink_metadata(&path).expect("it is there");
    assert!(found.file_type().is_fifo());
    let refused = Claims::new().regular("--trace", &path);
    let refused = refused.expect_err("it is no regular file");
    assert!(
        matches!(refused, OutputError::Irregular { .. }),
        "{refused}"
    );
    assert_eq!(names(folder.path()), ["pipe"]);
}

/// What is written through a descriptor of a regular file goes to its end.
#[test]
fn an_open_descriptor_is_written_and_not_replaced() {
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsRawFd;
    let mut open = tempfile::tempfile().expect("room");
    open.write_all(b"before, ").expect("room");
    let path = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
    write(&path, "after").expect("it is open");
    let mut all = String::new();
    open.rewind().expect("a file");
    open.read_to_string(&mut all).expect("a file");
    assert_eq!(all, "before, after");
}

#[test]
fn paths_that_cannot_be_written_are_refused_at_once() {
    let folder = folder();
    let report = file(&folder, "report", b"");
    for (path, reason) in [
        (folder.path().join("none/report"), "No such file"),
        (report.join("below"), "Not a directory"),
        (folder.path().to_path_buf(), "is a directory"),
        (folder.path().join("new/"), "is a directory"),
        (folder.path().join("report/.."), "is a directory"),
    ] {
        let refused = Claims::new().output("--json", &path).map(drop);
        let words = refused.expect_err("no file").to_string();
        assert!(words.contains(reason), "{words}");
        assert!(!words.contains(rnic_output::temporary::PREFIX), "{words}");
        assert_eq!(words.lines().count(), 1);
    }
    assert_eq!(names(folder.path()), ["report"]);
}

#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let mut output = Claims::new()
        .output("--json", Path::new("/dev/full"))
        .expect("a device");
    let words = output.write(b"text").expect_err("it is full").to_string();
    assert_eq!(
        words,
        "--json /dev/full: No space left on device (os error 28)"
    );
    let device = fs::metadata("/dev/full").expect("a device");
    assert!(device.file_type().is_char_device() && device.nlink() == 1);
}
