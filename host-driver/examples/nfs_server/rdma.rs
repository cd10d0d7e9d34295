//! Calls over RDMA. What a reply lends is given back when it has been sent, or its client is gone.

use crate::service::Outcome;
use crate::{lock, Arguments, Shared};
use rnic_examples::end::End;
use rnic_examples::failure::{say, Failure};
use rnic_examples::files::Loan;
use rnic_examples::nfs::HeaderLog;
use rnic_rpcrdma::{ClientId, Memories, Served, Server, ServerSettings};
use rpcrdma::binding::{mount3, nfs3, Program};
use rpcrdma::stream::Message;
use rpcrdma::RequestId;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

static PROGRAMS: [Program<'static>; 2] = [nfs3::PROGRAM, mount3::PROGRAM];
/// RDMA Reads outstanding each way.
const READS: u16 = 8;
/// The longest sleep: what happens ends it before.
const SLEEP: Duration = Duration::from_secs(60);

/// Clients and what was lent for them.
struct Clients {
    shared: Shared,
    peers: BTreeMap<ClientId, IpAddr>,
    lent: BTreeMap<(ClientId, RequestId), Loan>,
    message: Message,
    headers: HeaderLog,
    is_verbose: bool,
}

/// Serve until the device or the endpoint fails.
pub fn serve(
    end: &End,
    memories: &Arc<Memories>,
    own: SocketAddr,
    shared: &Shared,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let settings = ServerSettings {
        rpc: arguments.options.settings(),
        startup: arguments.options.startup.settings(READS),
        clients_max: arguments.clients,
        ..ServerSettings::default()
    };
    let mut server = Server::listen(&end.endpoint, memories, own, &PROGRAMS, settings)?;
    say(format!("listening on {own}"))?;
    let mut clients = Clients {
        shared: Arc::clone(shared),
        peers: BTreeMap::new(),
        lent: BTreeMap::new(),
        message: Message::new(),
        headers: HeaderLog::open(&arguments.options)?,
        is_verbose: arguments.verbose,
    };
    loop {
        match server.poll()? {
            Some(served) => clients.on(served, &mut server)?,
            None => server.wait(SLEEP)?,
        }
    }
}

impl Clients {
    fn on(&mut self, served: Served, server: &mut Server) -> Result<(), Failure> {
        let (Served::Connected(client, _)
        | Served::Call(client, _)
        | Served::Released(client, _)
        | Served::Replied(client, _)
        | Served::Failed(client, ..)
        | Served::Gone(client, _)) = served;
        if let Some(machine) = server.machine_mut(client) {
            self.headers.write(machine)?;
        }
        match served {
            Served::Connected(client, peer) => {
                self.peers.insert(client, peer.ip());
                self.log(|| format!("{peer} has connected"))
            }
            Served::Call(client, call) => {
                self.answer(server, client, call);
                Ok(())
            }
            Served::Released(client, call) => {
                if let Some(loan) = self.lent.remove(&(client, call)) {
                    lock(&self.shared).give_back(loan);
                }
                Ok(())
            }
            // This program calls nobody.
            Served::Replied(..) | Served::Failed(..) => Ok(()),
            Served::Gone(client, peer) => {
                let all = std::mem::take(&mut self.lent);
                let (gone, left): (Vec<_>, _) = all
                    .into_iter()
                    .partition(|((whose, _), _)| *whose == client);
                self.lent = left.into_iter().collect();
                let mut service = lock(&self.shared);
                gone.into_iter()
                    .for_each(|(_, loan)| service.give_back(loan));
                drop(service);
                self.log(|| format!("{peer} has gone"))
            }
        }
    }

    fn log(&self, text: impl Fn() -> String) -> Result<(), Failure> {
        match self.is_verbose {
            true => say(text()),
            false => Ok(()),
        }
    }

    fn answer(&mut self, server: &mut Server, client: ClientId, call: RequestId) {
        let Some(request) = server.request(client, call) else {
            return;
        };
        let peer = self.peers.get(&client).copied();
        let peer = peer.unwrap_or(IpAddr::from([0, 0, 0, 0]));
        self.message.clear();
        let outcome = lock(&self.shared).call(peer, request.reader(), &mut self.message);
        match outcome {
            Outcome::Reply(loan) => {
                // Before the reply is given out, which may be over at once.
                if let Some(loan) = loan {
                    self.lent.insert((client, call), loan);
                }
                server.respond(client, call, &mut self.message);
            }
            Outcome::Refuse(refused) => server.refuse(client, call, refused),
        }
    }
}
