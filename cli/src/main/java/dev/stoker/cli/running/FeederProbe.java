package dev.stoker.cli.running;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.FrameType;
import dev.stoker.schemas.protocol.Protocol;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * Checks whether a feeder serves at an address, without taking a place. The probe greets with a protocol version that
 * does not exist. The refusal needs neither token nor certificate, and only a feeder that has opened its streams sends
 * it. The feeder does not count it as refused.
 */
public final class FeederProbe {
    private static final int LIMIT_MS = 1000;

    private FeederProbe() {}

    /** Whether a feeder serves at {@code host:port}, on one of the host's addresses. */
    public static boolean answers(String address) {
        int colon = address.lastIndexOf(':');
        String host = address.substring(0, colon);
        int port = Integer.parseInt(address.substring(colon + 1));
        try {
            for (InetAddress place : InetAddress.getAllByName(host)) {
                if (answers(new InetSocketAddress(place, port))) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean answers(InetSocketAddress place) {
        try (Socket socket = new Socket()) {
            socket.connect(place, LIMIT_MS);
            socket.setSoTimeout(LIMIT_MS);
            socket.getOutputStream().write(greeting());
            FrameDecoder decoder = FrameDecoder.forClient();
            byte[] bytes = new byte[4096];
            for (int count; (count = socket.getInputStream().read(bytes)) > 0; ) {
                Optional<Frame> frame = decoder.next(ByteBuffer.wrap(bytes, 0, count));
                if (frame.isPresent()) {
                    return frame.get() instanceof ErrorMessage error && isRefusal(error);
                }
            }
            return false;
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether the answer is a refusal. A feeder with TLS answers in plain text that it requires TLS. */
    private static boolean isRefusal(ErrorMessage error) {
        return error.known()
                .filter(code -> code == ErrorCode.UNSUPPORTED_PROTOCOL || code == ErrorCode.UNAUTHORIZED)
                .isPresent();
    }

    private static byte[] greeting() {
        byte[] json = {'{', '}'};
        int length = 4 + 8 + json.length + 4;
        ByteBuffer hello = ByteBuffer.allocate(4 + length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(length)
                .put((byte) FrameType.HELLO.code())
                .put((byte) 0)
                .putShort((short) 0)
                .putInt(Protocol.MAGIC)
                .putShort((short) Protocol.NO_VERSION)
                .putShort((short) 0)
                .put(json);
        hello.putInt(Crc32cs.of(hello.slice(4, hello.position() - 4)));
        return hello.array();
    }
}
