//! Where a device is, as a user writes it.

use super::error::OpenError;
use std::path::PathBuf;

/// Where a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// `vfio:0000:01:00.0`: domain, bus, device and function of a PCI function.
    Vfio(String),
    /// `vfio-user:PATH`: socket of a server.
    VfioUser(PathBuf),
    /// `sim:KIND,LINK`: a simulated device of this process, and what its wire leads to.
    Simulated(String),
}

impl Address {
    /// # Errors
    /// [`OpenError::Address`].
    pub(crate) fn parse(text: &str) -> Result<Self, OpenError> {
        let parsed = match text.split_once(':') {
            Some(("vfio", function)) if is_function(function) => {
                Some(Self::Vfio(function.to_ascii_lowercase()))
            }
            Some(("vfio-user", path)) if !path.is_empty() => Some(Self::VfioUser(path.into())),
            Some(("sim", link)) => Some(Self::Simulated(link.to_owned())),
            _ => None,
        };
        parsed.ok_or_else(|| OpenError::Address {
            address: text.to_owned(),
        })
    }
}

/// Domain, bus, device and function as Linux writes them: the name of a folder in sysfs.
fn is_function(text: &str) -> bool {
    let parts: Vec<&str> = text.split([':', '.']).collect();
    let &[domain, bus, device, function] = parts.as_slice() else {
        return false;
    };
    let number = |text: &str, digits| {
        let is_hex = text.len() == digits && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(text, 16).ok()).flatten()
    };
    text == format!("{domain}:{bus}:{device}.{function}")
        && number(domain, domain.len().clamp(4, 8)).is_some()
        && number(bus, 2).is_some()
        && number(device, 2).is_some_and(|device| device < 32)
        && number(function, 1).is_some_and(|function| function < 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_and_a_socket_have_addresses() {
        for (text, function) in [
            ("vfio:0000:01:00.0", "0000:01:00.0"),
            ("vfio:0000:FF:1F.7", "0000:ff:1f.7"),
            ("vfio:10000:e1:00.0", "10000:e1:00.0"),
        ] {
            let expected = Address::Vfio(function.to_owned());
            assert_eq!(Address::parse(text).expect(text), expected);
        }
        let path = "/run/a:b.socket";
        let parsed = Address::parse(&format!("vfio-user:{path}"));
        assert_eq!(parsed.expect("a path"), Address::VfioUser(path.into()));
        for link in ["", "model,pcap:a.pcap"] {
            let parsed = Address::parse(&format!("sim:{link}"));
            let expected = Address::Simulated(link.to_owned());
            assert_eq!(parsed.expect("whatever follows"), expected);
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_an_example() {
        for text in [
            "",
            "vfio",
            "vfio:",
            "vfio:01:00.0",
            "vfio:0000:01:00",
            "vfio:0000:01:20.0",
            "vfio:0000:01:00.8",
            "vfio:0000.01.00.0",
            "vfio:0000:01:00.0/../x",
            "vfio:00g0:01:00.0",
            "vfio-user:",
            "sim",
            "pci:0000:01:00.0",
        ] {
            let refused = Address::parse(text).expect_err(text).to_string();
            assert_eq!(
                refused,
                format!(
                    "`{text}` is not the address of a device; write vfio:0000:01:00.0 for a PCI \
                     function, as `lspci -D` lists it, vfio-user:PATH for the socket of a server, \
                     or sim:rtl,LINK or sim:model,LINK for a simulated device of this process"
                )
            );
        }
    }
}
