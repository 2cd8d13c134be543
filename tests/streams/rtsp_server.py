#!/usr/bin/env python3
"""rtsp_server.py [--port PORT] [--size WxH] [--rate N] [--login USER:PASSWORD] [--shared]: GStreamer's RTSP server.

Serves a test image in H.264 at rtsp://127.0.0.1:PORT/a, a key frame a second, and prints the port. Each client has an
encoder of its own: a shared one may hang or crash the server when a client leaves while another joins (gst-rtsp-server
1.22). /sound has no video. Exits with 77 if GStreamer's parts are missing.
"""
import argparse
import sys

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GLib, Gst, GstRtspServer
except (ImportError, ValueError) as error:
    print(error, file=sys.stderr)
    sys.exit(77)


def require_login(server, login):
    user, password = login.split(":")
    auth = GstRtspServer.RTSPAuth.new()
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", user)
    auth.add_basic(GstRtspServer.RTSPAuth.make_basic(user, password), token)
    server.set_auth(auth)
    return user


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--size", default="640x360")
    parser.add_argument("--rate", type=int, default=15)
    parser.add_argument("--login")
    parser.add_argument("--shared", action="store_true", help="one encoder for clients that join once and stay")
    arguments = parser.parse_args()
    Gst.init(None)
    if Gst.ElementFactory.find("x264enc") is None or Gst.ElementFactory.find("rtph264pay") is None:
        print("GStreamer has no x264enc or rtph264pay", file=sys.stderr)
        sys.exit(77)
    width, height = arguments.size.split("x")
    video = (f"( videotestsrc is-live=true pattern=ball ! video/x-raw,width={width},height={height},"
             f"framerate={arguments.rate}/1 ! x264enc tune=zerolatency threads=1 speed-preset=ultrafast bitrate=600 "
             f"key-int-max={arguments.rate} ! rtph264pay name=pay0 pt=96 config-interval=-1 )")
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(str(arguments.port))
    role = require_login(server, arguments.login) if arguments.login else None
    for path, launch in (("/a", video), ("/sound", "( audiotestsrc is-live=true ! alawenc ! rtppcmapay name=pay0 pt=8 )")):
        factory = GstRtspServer.RTSPMediaFactory()
        factory.set_launch(launch)
        factory.set_shared(arguments.shared)
        if role:
            permissions = GstRtspServer.RTSPPermissions.new()
            for permission in ("media.factory.access", "media.factory.construct"):
                permissions.add_permission_for_role(role, permission, True)
            factory.set_permissions(permissions)
        server.get_mount_points().add_factory(path, factory)
    server.attach(None)
    print(server.get_bound_port(), flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
