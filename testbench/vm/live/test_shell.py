"""The guest's shell: its prompt is waited for, and octets go both ways until it has ended."""

import os
import socket
import threading
import unittest

import shell


class ShellTest(unittest.TestCase):
    def setUp(self):
        self.line, self.guest = socket.socketpair()
        self.addCleanup(self.line.close)
        self.addCleanup(self.guest.close)

    def test_a_prompt_is_asked_for_until_it_comes_and_shown_once(self):
        def answer():
            # The first line comes before the shell has opened its own.
            self.guest.recv(1)
            self.guest.recv(1)
            self.guest.sendall(b"\r\n~ # \r\n~ # ")

        asked = threading.Thread(target=answer)
        asked.start()
        self.assertEqual(shell.prompt(self.line), b"~ # ")
        asked.join()

    def test_octets_go_both_ways_and_the_end_of_input_is_typed(self):
        (source, typed), (shown, sink) = os.pipe(), os.pipe()
        talk = threading.Thread(target=shell.talk, args=(self.line, source, sink))
        talk.start()
        os.write(typed, b"rdma link\n")
        self.assertEqual(self.guest.recv(shell.CHUNK), b"rdma link\n")
        self.guest.sendall(b"siw0")
        self.assertEqual(os.read(shown, shell.CHUNK), b"siw0")
        os.close(typed)
        self.assertEqual(self.guest.recv(shell.CHUNK), shell.END_OF_TRANSMISSION)
        self.guest.close()
        talk.join(10)
        self.assertFalse(talk.is_alive())
        for end in (source, shown, sink):
            os.close(end)


if __name__ == "__main__":
    unittest.main()
