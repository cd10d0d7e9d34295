/*
 * Half of an rping that makes one mistake, and says what its verbs report then.
 *
 *     faulty -s FAULT            the server: the peer's records say where its buffers are
 *     faulty -c ADDRESS FAULT    the client: its own records lead the peer to make the mistake
 *
 *     server                                         client
 *       write-key, write-bounds    the sink            read-*: what its source is said to be
 *       write-rights               the source          write-*: what its sink is said to be
 *       read-key, read-bounds      the source          no-receive: it posts none for an answer
 *       read-rights                the sink            too-long: 8 octets for one
 *       no-receive                 64 Sends            none: no mistake of its own
 *       too-long                   17 octets
 *       none                       no mistake of its own
 *
 * A record is what rping sends: address, key and length of a buffer, most significant octet first.
 * Status: 0 if the connection has ended after the mistake, 1 if not, 2 if it could not be made.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUFFER = 4096, RECORD = 16, SENDS = 64, DEPTH = 80, BEYOND = 8 };
enum { PATIENCE_MS = 8000, SLICE_MS = 50, SLICES_AFTER = 4, BACKLOG = 1 };
/* What no end has given out: the index of an STag is in its high octets. */
enum { OTHER_KEY = 0x5a5a5a00 };
#define PORT "7174"

struct record {
	uint64_t address;
	uint32_t key;
	uint32_t octets;
} __attribute__((packed));

struct end {
	struct rdma_cm_id *id;
	struct ibv_mr *buffer, *little;
	struct record said, heard;
	struct ibv_mr *said_mr, *heard_mr;
	const char *fault;
};

static char octets[BUFFER], few[64];

static void die(const char *what)
{
	printf("failed: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int is(const struct end *end, const char *fault)
{
	return strcmp(end->fault, fault) == 0;
}

static struct ibv_mr *registered(struct end *end, void *at, size_t count, int rights)
{
	struct ibv_mr *mr = ibv_reg_mr(end->id->pd, at, count, IBV_ACCESS_LOCAL_WRITE | rights);

	if (!mr)
		die("ibv_reg_mr");
	return mr;
}

/* Post a receive of so many octets for a record. */
static void expect(struct end *end, uint32_t count)
{
	struct ibv_sge part = { (uintptr_t)&end->heard, count, end->heard_mr->lkey };
	struct ibv_recv_wr request = { .sg_list = &part, .num_sge = 1 }, *bad;

	if (ibv_post_recv(end->id->qp, &request, &bad))
		die("ibv_post_recv");
}

/* Post so many of an operation, together. */
static void post(struct end *end, struct ibv_send_wr *what, struct ibv_sge *part, int times)
{
	struct ibv_send_wr requests[SENDS], *bad;

	for (int number = 0; number < times; number++) {
		requests[number] = *what;
		requests[number].sg_list = part;
		requests[number].num_sge = 1;
		requests[number].send_flags = IBV_SEND_SIGNALED;
		requests[number].next = number + 1 < times ? &requests[number + 1] : NULL;
	}
	if (ibv_post_send(end->id->qp, requests, &bad))
		die("ibv_post_send");
}

static void send_octets(struct end *end, uint32_t count, int times)
{
	struct ibv_sge part = { (uintptr_t)octets, count, end->buffer->lkey };
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND };

	post(end, &send, &part, times);
}

/* A Write to, or a Read of, what the record says. */
static void reach(struct end *end, enum ibv_wr_opcode opcode, const struct record *where)
{
	struct ibv_sge part = { (uintptr_t)octets, be32toh(where->octets), end->buffer->lkey };
	struct ibv_send_wr request = { .opcode = opcode };

	request.wr.rdma.remote_addr = be64toh(where->address);
	request.wr.rdma.rkey = be32toh(where->key);
	post(end, &request, &part, 1);
}

static void tell(struct end *end, const struct ibv_mr *mr, uint32_t key, uint32_t count)
{
	struct ibv_sge part = { (uintptr_t)&end->said, RECORD, end->said_mr->lkey };
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND };

	end->said.address = htobe64((uintptr_t)mr->addr);
	end->said.key = htobe32(mr->rkey ^ key);
	end->said.octets = htobe32(count);
	post(end, &send, &part, 1);
}

static void print_completion(const struct ibv_wc *done, const char *queue)
{
	printf("completion: %s: %s\n", queue, ibv_wc_status_str(done->status));
}

/* Wait for the peer's next record. */
static void hear(struct end *end)
{
	struct ibv_wc done;

	for (int waited = 0; ibv_poll_cq(end->id->recv_cq, 1, &done) == 0; waited++) {
		if (waited == PATIENCE_MS)
			die("no message");
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	if (done.status != IBV_WC_SUCCESS) {
		print_completion(&done, "receive");
		exit(2);
	}
}

/* The server: a ping, up to its mistake. */
static void serve(struct end *end)
{
	const int is_source = is(end, "read-key") || is(end, "read-bounds") ||
			      is(end, "write-rights");
	const int is_read = strncmp(end->fault, "read-", 5) == 0;
	struct record where;

	hear(end);
	expect(end, RECORD);
	expect(end, RECORD);
	if (is(end, "no-receive"))
		return send_octets(end, RECORD, SENDS);
	if (is(end, "too-long"))
		return send_octets(end, RECORD + 1, 1);
	if (is(end, "none"))
		return send_octets(end, RECORD, 1);
	if (!is_source) {
		reach(end, IBV_WR_RDMA_READ, &end->heard);
		send_octets(end, RECORD, 1);
		hear(end);
	}
	where = end->heard;
	if (strstr(end->fault, "-key"))
		where.key ^= htobe32(OTHER_KEY);
	if (strstr(end->fault, "-bounds"))
		where.address = htobe64(be64toh(where.address) + BEYOND);
	reach(end, is_read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, &where);
}

/* A record that is wrong in the way of the fault, or right. */
static void offer(struct end *end, int is_wrong, int wrong_rights, int rights)
{
	const int has_rights = !(is_wrong && strstr(end->fault, "-rights"));
	const int is_short = is_wrong && strstr(end->fault, "-bounds");
	uint32_t key = is_wrong && strstr(end->fault, "-key") ? OTHER_KEY : 0;

	rights = has_rights ? rights : wrong_rights;
	end->little = registered(end, is_short ? few : octets,
				 is_short ? sizeof few : sizeof octets, rights);
	tell(end, end->little, key, BUFFER);
}

/* The client: a ping, up to what leads the server to its mistake. */
static void ping(struct end *end)
{
	const int is_write = strncmp(end->fault, "write-", 6) == 0;

	offer(end, !is_write, IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ);
	if (is(end, "read-rights")) {
		/* A peer that has read all the same says so. */
		hear(end);
		puts("answered");
		rdma_disconnect(end->id);
		exit(0);
	}
	if (!is_write)
		return;
	hear(end);
	expect(end, RECORD);
	offer(end, 1, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE);
}

static void drain(struct ibv_cq *queue, const char *name)
{
	struct ibv_wc done;

	while (ibv_poll_cq(queue, 1, &done) > 0)
		print_completion(&done, name);
}

/* Say what has happened within a slice of time; whether the connection has ended. */
static int look(struct end *end)
{
	struct pollfd files[] = {
		{ end->id->channel->fd, POLLIN, 0 },
		{ end->id->verbs->async_fd, POLLIN, 0 },
	};
	struct ibv_async_event event;
	struct rdma_cm_event *news;
	int has_ended = 0;

	poll(files, 2, SLICE_MS);
	if (files[1].revents && ibv_get_async_event(end->id->verbs, &event) == 0) {
		printf("event: %s\n", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
	if (files[0].revents && rdma_get_cm_event(end->id->channel, &news) == 0) {
		printf("connection: %s\n", rdma_event_str(news->event));
		has_ended = news->event == RDMA_CM_EVENT_DISCONNECTED;
		rdma_ack_cm_event(news);
	}
	drain(end->id->send_cq, "send");
	drain(end->id->recv_cq, "receive");
	return has_ended;
}

/* Say what happens, until the connection has ended and nothing follows; whether it has. */
static int watch(struct end *end)
{
	int has_ended = 0;

	for (int waited = 0; waited < PATIENCE_MS && !has_ended; waited += SLICE_MS)
		has_ended = look(end);
	for (int slice = 0; slice < SLICES_AFTER; slice++)
		look(end);
	return has_ended;
}

/* An end with its queue pair: a connection that is to be accepted or opened. */
static struct rdma_cm_id *opened(const char *address)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *found;
	struct ibv_qp_init_attr queues = { .sq_sig_all = 0 };
	struct rdma_cm_id *id, *listener;

	queues.cap.max_send_wr = queues.cap.max_recv_wr = DEPTH;
	queues.cap.max_send_sge = queues.cap.max_recv_sge = 1;
	hints.ai_flags = address ? 0 : RAI_PASSIVE;
	if (rdma_getaddrinfo(address, PORT, &hints, &found))
		die("rdma_getaddrinfo");
	if (address) {
		if (rdma_create_ep(&id, found, NULL, &queues))
			die("rdma_create_ep");
		return id;
	}
	if (rdma_create_ep(&listener, found, NULL, &queues) || rdma_listen(listener, BACKLOG))
		die("rdma_listen");
	if (rdma_get_request(listener, &id))
		die("rdma_get_request");
	return id;
}

int main(int count, char **words)
{
	const int is_server = count == 3 && strcmp(words[1], "-s") == 0;
	struct rdma_conn_param how = { .responder_resources = 1, .initiator_depth = 1 };
	struct end end = { .fault = count > 2 ? words[count - 1] : "" };

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!is_server && !(count == 4 && strcmp(words[1], "-c") == 0)) {
		fputs("faulty -s FAULT, or faulty -c ADDRESS FAULT\n", stderr);
		return 2;
	}
	end.id = opened(is_server ? NULL : words[2]);
	end.buffer = registered(&end, octets, sizeof octets, IBV_ACCESS_REMOTE_WRITE);
	end.said_mr = registered(&end, &end.said, sizeof end.said, 0);
	end.heard_mr = registered(&end, &end.heard, sizeof end.heard, 0);
	/* In place before the peer can send. */
	if (is_server || !is(&end, "no-receive"))
		expect(&end, !is_server && is(&end, "too-long") ? RECORD / 2 : RECORD);
	if (is_server ? rdma_accept(end.id, &how) : rdma_connect(end.id, &how))
		die("the connection");
	if (is_server)
		serve(&end);
	else
		ping(&end);
	return watch(&end) ? 0 : 1;
}
