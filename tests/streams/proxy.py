"""A TCP proxy that harms the streams through it: it cuts, stalls, throttles, floods and damages them. One for RTSP alone
harms single packets of video, within TCP or over UDP.

    proxy.py --to PORT [--port PORT]     a proxy by hand: its faults are read as lines from standard input
"""
import argparse
import asyncio
import random
import re
import sys
import threading


class Proxy:
    """Forwards the port `port` to TO on a thread of its own. Any thread may call its methods, which return when they have
    taken effect."""

    FAULTS = ("cut", "stall", "throttle", "flood", "damage")

    def __init__(self, to, port=0, seed=1):
        self.to, self.port = to, port
        self.fault = None
        self.connections = 0  # that were made through it
        self._random = random.Random(seed)
        self._open = set()
        self._server = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._call(self._listen())

    def close(self):
        self._call(self._cut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def harm(self, fault):
        """Begins FAULT, which replaces the one before. cut: connections are closed, and new ones refused. stall: nothing is
        forwarded. throttle: 4000 bytes per second. flood: all that the server sends is sent fifty times. damage: one byte in
        a few thousand that the server sends is another one."""
        assert fault in self.FAULTS, fault
        self.heal()
        self.fault = fault
        if fault == "cut":
            self._call(self._cut())

    def heal(self):
        self.fault = None
        if self._server is None:
            self._call(self._listen())

    def cut_once(self):
        """Closes all connections; new ones are made."""
        self._call(self._drop())

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    async def _listen(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _cut(self):
        if self._server is not None:
            self._server.close()
            self._server = None
        await self._drop()

    async def _drop(self):
        for writer in list(self._open):
            writer.transport.abort()

    async def _serve(self, reader, writer):
        self.connections += 1
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.to)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, far_writer}
        await asyncio.gather(self._forward(reader, far_writer, False), self._forward(far_reader, writer, True))
        self._open -= {writer, far_writer}

    async def _forward(self, reader, writer, is_from_server):
        try:
            while data := await reader.read(65536):
                while self.fault == "stall":
                    await asyncio.sleep(0.02)
                await self._throttle(len(data))
                if is_from_server and self.fault == "damage":
                    data = self._damaged(data)
                for _ in range(50 if is_from_server and self.fault == "flood" else 1):
                    writer.write(data)
                    await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort() if self.fault == "cut" else writer.close()

    async def _throttle(self, count):
        """Waits for as long as COUNT bytes take."""
        while self.fault == "throttle" and count > 0:
            await asyncio.sleep(0.02)
            count -= 0.02 * 4000

    def _damaged(self, data):
        data = bytearray(data)
        for _ in range(1 + len(data) // 4000):
            data[self._random.randrange(len(data))] = self._random.randrange(256)
        return bytes(data)


class RtspProxy(Proxy):
    """Knows the borders of RTP's packets, and harms every seventh while `packet_fault` is "lose" (it is not forwarded) or
    "alter" (its second half is random). The session around them stays whole."""

    def __init__(self, to):
        self.packet_fault = None
        self.packets = 0  # of video
        self._relays = []
        super().__init__(to)

    async def _cut(self):
        for relay in self._relays:
            relay.abort()
        await super()._cut()

    async def _forward(self, reader, writer, is_from_server):
        try:
            if is_from_server:
                await self._forward_packets(reader, writer)
            else:
                while data := await reader.read(65536):
                    writer.write(await self._with_own_ports(data))
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _forward_packets(self, reader, writer):
        """Packets of RTP (even channels) and RTCP behind a dollar sign, channel and length; between them lines of text."""
        while True:
            start = await reader.readexactly(1)
            if start != b"$":
                writer.write(start + await reader.readline())
                continue
            header = await reader.readexactly(3)
            packet = await reader.readexactly(int.from_bytes(header[1:], "big"))
            if header[0] % 2 == 0:
                packet = self._harmed(packet)
            if packet is not None:
                writer.write(start + header + packet)
                await writer.drain()

    def _harmed(self, packet):
        self.packets += 1
        if self.packet_fault is None or self.packets % 7 != 0:
            return packet
        whole = len(packet) // 2
        return None if self.packet_fault == "lose" else packet[:whole] + self._random.randbytes(len(packet) - whole)

    async def _with_own_ports(self, request):
        """REQUEST with ports of this proxy instead of the client's, to which it forwards what comes there."""
        match = re.search(rb"client_port=(\d+)-(\d+)", request)
        if match is None:
            return request
        ports = [await self._relay(int(match[1]), self._harmed), await self._relay(int(match[2]), lambda packet: packet)]
        return request.replace(match[0], b"client_port=%d-%d" % tuple(ports))

    async def _relay(self, to, change):
        class Relay(asyncio.DatagramProtocol):
            def connection_made(self, transport):
                self.transport = transport

            def datagram_received(self, data, _):
                data = change(data)
                if data is not None:
                    self.transport.sendto(data, ("127.0.0.1", to))

        transport, _ = await self._loop.create_datagram_endpoint(Relay, local_addr=("127.0.0.1", 0))
        self._relays.append(transport)
        return transport.get_extra_info("sockname")[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=int, required=True)
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    proxy = Proxy(arguments.to, arguments.port)
    print(f"127.0.0.1:{proxy.port}; a line is a fault ({', '.join(Proxy.FAULTS)}), an empty one heals", flush=True)
    for line in sys.stdin:
        proxy.harm(line.strip()) if line.strip() else proxy.heal()


if __name__ == "__main__":
    main()
