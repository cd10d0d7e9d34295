/*
 * The guest's half of `bandwidth` (host-driver/examples/bandwidth): it speaks that program's
 * protocol over librdmacm, in both roles, with so many connections at a time, a thread each.
 *
 *     bandwidth -s CONNECTIONS
 *     bandwidth -c ADDRESS CONNECTIONS send|write|read SIZE DEPTH COUNT
 *
 *     client                                   server
 *       Request: what it asks for   -------->    a region, or DEPTH receives
 *       Reply                       <--------    where the region is
 *       DEPTH messages at a time    -------->    after half of them: a Send, so many are posted again
 *
 * Octets of a message count up from 0 to 250, again and again: each end compares what it has got.
 * Status: 0 if all was as it should be, 1 if not, 2 if it could not be run.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZE_MAX_OCTETS = 1 << 20, DEPTH_MAX = 128, CONNECTIONS_MAX = 64, PERIOD = 251 };
/* Receives for what a server says of its receives: no more than three are on their way. */
enum { CREDITS = 4 };
#define PORT "7174"

enum operation { SEND, WRITE, READ };
static const char *const NAMES[] = { "send", "write", "read" };

struct asked {
	char key[4];
	uint8_t operation, zero[3];
	uint32_t size, depth;
} __attribute__((packed));

struct place {
	uint64_t address;
	uint32_t key;
} __attribute__((packed));

struct end {
	pthread_t thread;
	struct rdma_cm_id *id;
	struct asked asked;
	uint32_t size, depth;
	/* A buffer for each receive of a server; the first one is what is sent, written or read. */
	unsigned char *octets;
	uint32_t credits[CREDITS + 1];
	struct ibv_mr *octets_mr, *credits_mr;
	struct place place;
	uint64_t count, done;
	double seconds;
};

static struct end ends[CONNECTIONS_MAX];

static void die(const char *what)
{
	printf("failed: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void check(const struct ibv_wc *done, const char *what)
{
	if (done->status == IBV_WC_SUCCESS)
		return;
	printf("failed: %s: %s\n", what, ibv_wc_status_str(done->status));
	exit(1);
}

static void fill(unsigned char *octets, uint32_t size)
{
	for (uint32_t at = 0; at < size; at++)
		octets[at] = at % PERIOD;
}

static void compare(const unsigned char *octets, uint32_t size, const char *what)
{
	for (uint32_t at = 0; at < size; at++) {
		if (octets[at] == at % PERIOD)
			continue;
		printf("failed: octet %u of %s is %u\n", at, what, octets[at]);
		exit(1);
	}
}

/* Memory of `buffers` messages, and what is said of receives. */
static void prepare(struct end *end, uint32_t buffers)
{
	const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ;

	end->octets = calloc(buffers, end->size);
	if (!end->octets)
		die("memory");
	end->octets_mr = ibv_reg_mr(end->id->pd, end->octets, (size_t)buffers * end->size, rights);
	end->credits_mr = ibv_reg_mr(end->id->pd, end->credits, sizeof end->credits,
				     IBV_ACCESS_LOCAL_WRITE);
	if (!end->octets_mr || !end->credits_mr)
		die("ibv_reg_mr");
}

static void expect_message(struct end *end, uint64_t buffer)
{
	if (rdma_post_recv(end->id, (void *)(uintptr_t)buffer, end->octets + buffer * end->size,
			   end->size, end->octets_mr))
		die("a receive");
}

static void expect_credit(struct end *end, uint64_t buffer)
{
	if (rdma_post_recv(end->id, (void *)(uintptr_t)buffer, &end->credits[buffer], 4,
			   end->credits_mr))
		die("a receive for credit");
}

/* The next message; 0: the client has gone, of which siw's receives do not say anything. */
static int next_message(struct end *end, struct ibv_wc *done)
{
	struct pollfd files[] = {
		{ end->id->recv_cq_channel->fd, POLLIN, 0 },
		{ end->id->channel->fd, POLLIN, 0 },
	};
	struct ibv_cq *queue;
	void *context;
	int found;

	while (!(found = ibv_poll_cq(end->id->recv_cq, 1, done))) {
		if (ibv_req_notify_cq(end->id->recv_cq, 0))
			die("ibv_req_notify_cq");
		if ((found = ibv_poll_cq(end->id->recv_cq, 1, done)))
			break;
		if (poll(files, 2, -1) < 0)
			die("poll");
		if (files[0].revents) {
			if (ibv_get_cq_event(end->id->recv_cq_channel, &queue, &context))
				die("ibv_get_cq_event");
			ibv_ack_cq_events(queue, 1);
		} else {
			return ibv_poll_cq(end->id->recv_cq, 1, done);
		}
	}
	return found;
}

/* The server: take messages until the client has gone. */
static void take_messages(struct end *end)
{
	const uint32_t batch = (end->depth + 1) / 2;
	struct ibv_wc done;

	end->credits[0] = htobe32(batch);
	while (next_message(end, &done) > 0 && done.status != IBV_WC_WR_FLUSH_ERR) {
		check(&done, "a message");
		if (done.byte_len != end->size)
			printf("failed: a message of %u octets\n", done.byte_len), exit(1);
		compare(end->octets + done.wr_id * end->size, end->size, "a message");
		memset(end->octets + done.wr_id * end->size, 0xff, end->size);
		expect_message(end, done.wr_id);
		if (++end->done % batch)
			continue;
		if (rdma_post_send(end->id, NULL, &end->credits[0], 4, end->credits_mr,
				   IBV_SEND_SIGNALED))
			die("credit");
		if (rdma_get_send_comp(end->id, &done) > 0 && done.status != IBV_WC_WR_FLUSH_ERR)
			check(&done, "credit");
	}
}

static void wait_for_end(struct end *end)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(end->id->channel, &event))
		die("rdma_get_cm_event");
	if (event->event != RDMA_CM_EVENT_DISCONNECTED)
		printf("failed: %s\n", rdma_event_str(event->event)), exit(1);
	rdma_ack_cm_event(event);
}

static void *serve(void *argument)
{
	struct end *end = argument;
	struct rdma_conn_param *request = &end->id->event->param.conn, how = { 0 };
	int is_send;

	memcpy(&end->asked, request->private_data, sizeof end->asked);
	is_send = end->asked.operation == SEND;
	end->size = be32toh(end->asked.size);
	end->depth = be32toh(end->asked.depth);
	if (memcmp(end->asked.key, "FWbw", 4) || end->size > SIZE_MAX_OCTETS ||
	    end->depth > DEPTH_MAX)
		printf("failed: the client is another program\n"), exit(1);
	prepare(end, is_send ? end->depth : 1);
	if (end->asked.operation == READ)
		fill(end->octets, end->size);
	for (uint32_t buffer = 0; is_send && buffer < end->depth; buffer++)
		expect_message(end, buffer);
	if (!is_send)
		end->place = (struct place){ htobe64((uintptr_t)end->octets),
					     htobe32(end->octets_mr->rkey) };
	how.private_data = &end->place;
	how.private_data_len = sizeof end->place;
	how.responder_resources = request->responder_resources;
	how.initiator_depth = request->initiator_depth;
	if (rdma_accept(end->id, &how))
		die("rdma_accept");
	if (is_send)
		take_messages(end);
	wait_for_end(end);
	if (end->asked.operation == WRITE)
		compare(end->octets, end->size, "what was written");
	/* rdma_disconnect would wait for the event that is over. */
	return NULL;
}

static void post(struct end *end)
{
	const uint64_t to = be64toh(end->place.address);
	const uint32_t key = be32toh(end->place.key);
	int failed;

	if (end->asked.operation == SEND)
		failed = rdma_post_send(end->id, NULL, end->octets, end->size, end->octets_mr,
					IBV_SEND_SIGNALED);
	else if (end->asked.operation == WRITE)
		failed = rdma_post_write(end->id, NULL, end->octets, end->size, end->octets_mr,
					 IBV_SEND_SIGNALED, to, key);
	else
		failed = rdma_post_read(end->id, NULL, end->octets, end->size, end->octets_mr,
					IBV_SEND_SIGNALED, to, key);
	if (failed)
		die("a message");
}

/* So many more messages the server has receives for. */
static uint32_t take_credit(struct end *end)
{
	struct ibv_wc done;
	uint32_t credit;

	if (rdma_get_recv_comp(end->id, &done) <= 0)
		die("credit");
	check(&done, "credit");
	credit = be32toh(end->credits[done.wr_id]);
	expect_credit(end, done.wr_id);
	return credit;
}

/* The client: keep DEPTH messages posted, of Sends no more than the server has receives for. */
static void post_messages(struct end *end)
{
	const uint32_t batch = (end->depth + 1) / 2;
	uint64_t posted = 0, allowed = end->asked.operation == SEND ? end->depth : UINT64_MAX;
	struct ibv_wc done;

	while (end->done < end->count) {
		while (posted < end->count && posted < allowed && posted - end->done < end->depth) {
			post(end);
			posted++;
		}
		if (posted > end->done) {
			if (rdma_get_send_comp(end->id, &done) <= 0)
				die("a completion");
			check(&done, "a message");
			end->done++;
		}
		while (posted == allowed && posted < end->count)
			allowed += take_credit(end);
	}
	/* All that is to come: siw's Sends are complete before they have arrived. */
	if (end->asked.operation == SEND)
		while (allowed < end->depth + end->count / batch * batch)
			allowed += take_credit(end);
}

static void *measure(void *argument)
{
	struct end *end = argument;
	struct rdma_conn_param how = { .private_data = &end->asked,
				       .private_data_len = sizeof end->asked,
				       .responder_resources = end->depth,
				       .initiator_depth = end->depth };
	struct timespec begun, ended;

	prepare(end, 1);
	if (end->asked.operation != READ)
		fill(end->octets, end->size);
	for (uint64_t buffer = 0; buffer < CREDITS; buffer++)
		expect_credit(end, buffer);
	if (rdma_connect(end->id, &how))
		die("rdma_connect");
	if (end->id->event->param.conn.private_data_len < sizeof end->place)
		printf("failed: the server is another program\n"), exit(1);
	memcpy(&end->place, end->id->event->param.conn.private_data, sizeof end->place);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	post_messages(end);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	end->seconds = ended.tv_sec - begun.tv_sec + (ended.tv_nsec - begun.tv_nsec) / 1e9;
	if (end->asked.operation == READ)
		compare(end->octets, end->size, "what was read");
	rdma_disconnect(end->id);
	return NULL;
}

/* Of an address, to connect to; of none, to listen. */
static struct rdma_cm_id *opened(const char *address)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *found;
	struct ibv_qp_init_attr queues = { .sq_sig_all = 0 };
	struct rdma_cm_id *id;

	queues.cap.max_send_wr = queues.cap.max_recv_wr = DEPTH_MAX;
	queues.cap.max_send_sge = queues.cap.max_recv_sge = 1;
	hints.ai_flags = address ? 0 : RAI_PASSIVE;
	if (rdma_getaddrinfo(address, PORT, &hints, &found))
		die("rdma_getaddrinfo");
	if (rdma_create_ep(&id, found, NULL, &queues))
		die("rdma_create_ep");
	return id;
}

/* What a client asks for, of its words. */
static void ask(struct end *end, char **words)
{
	memcpy(end->asked.key, "FWbw", 4);
	while (strcmp(NAMES[end->asked.operation], words[0]))
		if (++end->asked.operation > READ)
			die("an operation is send, write or read");
	end->size = atoi(words[1]);
	end->depth = atoi(words[2]);
	end->count = atoll(words[3]);
	end->asked.size = htobe32(end->size);
	end->asked.depth = htobe32(end->depth);
	if (end->size < 1 || end->size > SIZE_MAX_OCTETS || end->depth < 1 ||
	    end->depth > DEPTH_MAX)
		die("SIZE is up to 1048576, DEPTH up to 128");
}

static void report(int connections)
{
	double seconds = 0, octets = 0;
	uint64_t messages = 0;

	for (struct end *end = ends; end < ends + connections; end++) {
		messages += end->done;
		octets += (double)end->done * end->size;
		seconds = end->seconds > seconds ? end->seconds : seconds;
	}
	printf("%llu messages, %.2f Mbit/s\n", (unsigned long long)messages,
	       seconds > 0 ? octets * 8 / seconds / 1e6 : 0);
}

int main(int count, char **words)
{
	const int is_server = count == 3 && strcmp(words[1], "-s") == 0;
	const int is_client = count == 8 && strcmp(words[1], "-c") == 0;
	const int connections = is_server ? atoi(words[2]) : is_client ? atoi(words[3]) : 0;
	struct rdma_cm_id *listener = NULL;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (connections < 1 || connections > CONNECTIONS_MAX) {
		fputs("bandwidth -s CONNECTIONS, or bandwidth -c ADDRESS CONNECTIONS"
		      " send|write|read SIZE DEPTH COUNT; up to 64 CONNECTIONS\n", stderr);
		return 2;
	}
	if (is_server) {
		listener = opened(NULL);
		if (rdma_listen(listener, CONNECTIONS_MAX))
			die("rdma_listen");
	}
	for (struct end *end = ends; end < ends + connections; end++) {
		if (is_server && rdma_get_request(listener, &end->id))
			die("rdma_get_request");
		if (is_client) {
			end->id = opened(words[2]);
			ask(end, words + 4);
		}
		if (pthread_create(&end->thread, NULL, is_server ? serve : measure, end))
			die("pthread_create");
	}
	for (struct end *end = ends; end < ends + connections; end++)
		pthread_join(end->thread, NULL);
	report(connections);
	return 0;
}
