package dev.stoker.schemas.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** The frames of {@code vectors/protocol.json}, and decoders in the state that they need. */
public final class ProtocolVectors {
    public record Golden(String name, boolean fromClient, String type, JsonNode fields, byte[] bytes) {
        /** A decoder that expects this frame next. */
        public FrameDecoder decoder() {
            boolean first = type.equals("HELLO") || type.equals("WELCOME");
            return first
                    ? (fromClient ? FrameDecoder.forServer() : FrameDecoder.forClient())
                    : fromClient ? welcomedServer() : welcomedClient();
        }

        @Override
        public String toString() {
            return name;
        }
    }

    public record Bad(String name, FrameDecoder decoder, String code, byte[] bytes) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static final byte[] LEAST_HELLO =
            sealed(HexFormat.of().parseHex("120000000100000053544b52010000007b7d00000000"));
    private static final JsonNode FILE = read();
    private static final List<Golden> GOLDEN = readGolden();

    private ProtocolVectors() {}

    public static List<Golden> golden() {
        return GOLDEN;
    }

    private static List<Golden> readGolden() {
        List<Golden> list = new ArrayList<>();
        for (JsonNode f : FILE.get("frames")) {
            list.add(new Golden(
                    f.get("name").textValue(),
                    f.get("from").textValue().equals("client"),
                    f.get("type").textValue(),
                    f.get("fields"),
                    bytes(f.get("hex"))));
        }
        return list;
    }

    public static Golden golden(String name) {
        return golden().stream().filter(g -> g.name.equals(name)).findFirst().orElseThrow();
    }

    public static List<Bad> bad() {
        List<Bad> list = new ArrayList<>();
        for (JsonNode f : FILE.get("bad")) {
            boolean server = f.get("to").textValue().equals("server");
            boolean welcomed = f.get("welcomed").booleanValue();
            FrameDecoder decoder = welcomed
                    ? (server ? welcomedServer() : welcomedClient())
                    : server ? FrameDecoder.forServer() : FrameDecoder.forClient();
            list.add(new Bad(f.get("name").textValue(), decoder, f.get("code").textValue(), bytes(f.get("hex"))));
        }
        return list;
    }

    public static FrameDecoder welcomedServer() {
        FrameDecoder decoder = FrameDecoder.forServer();
        feed(decoder, LEAST_HELLO);
        decoder.welcomed();
        return decoder;
    }

    static FrameDecoder welcomedClient() {
        FrameDecoder decoder = FrameDecoder.forClient();
        feed(decoder, golden("welcome").bytes());
        return decoder;
    }

    /** Writes the right checksum over the last bytes of a frame, unless its type has none there. */
    public static byte[] sealed(byte[] frame) {
        if (frame.length >= 12 && frame[4] != FrameType.BATCH.code() && frame[4] != FrameType.BATCH_REF.code()) {
            ByteBuffer bytes = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putInt(frame.length - 4, Crc32cs.of(bytes.slice(4, frame.length - 8)));
        }
        return frame;
    }

    private static void feed(FrameDecoder decoder, byte[] bytes) {
        try {
            if (decoder.next(ByteBuffer.wrap(bytes)).isEmpty()) {
                throw new IllegalStateException("the vector is no whole frame");
            }
        } catch (ProtocolException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] bytes(JsonNode hex) {
        return HexFormat.of().parseHex(hex.textValue());
    }

    private static JsonNode read() {
        try (InputStream in = ProtocolVectors.class.getResourceAsStream("/vectors/protocol.json")) {
            return new JsonMapper().readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
