package dev.stoker.schemas.protocol;

import dev.stoker.schemas.attack.Format;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.protocol.parts.PieceSource;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/** Every frame of {@code vectors/protocol.json}, and greater ones with payload, as streams for a peer's decoder. */
public final class FrameFormats {
    /** What follows the frame in its stream: without it, a damaged length would only make a decoder wait. */
    private static final int MORE = 64 << 10;

    private static final String UNREAD = "the subscription's number, which only says who asked for the piece";
    private static final byte[] FILE = random(4096);

    private FrameFormats() {}

    public static List<Format> all() {
        List<Format> formats = new ArrayList<>();
        for (ProtocolVectors.Golden golden : ProtocolVectors.golden()) {
            if (!golden.type().startsWith("BATCH")) {
                formats.add(
                        new Format("frame " + golden, golden.bytes(), bytes -> firstFrame(golden.decoder(), bytes)));
            }
        }
        formats.add(new Format("frame BATCH with 4 KiB", batch(), UNREAD, FrameFormats::piece));
        formats.add(new Format("frame BATCH_REF with three slices", reference(), UNREAD, FrameFormats::piece));
        return formats;
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private static BatchHeader header(byte[] message) {
        BatchIdentity identity =
                new BatchIdentity(0x6f1d2c3b4a595687L, 0x0123456789abcdefL, 5, 3, 77, 1, 4, 31, 1, true);
        return BatchHeader.of(
                identity, new PieceSource(31, 0x1122334455667788L, 0x0abcdef0), 2, message.length, Crc32cs.of(message));
    }

    private static byte[] batch() {
        byte[] message = random(4 << 10);
        ByteBuffer frame = ByteBuffer.allocate(BatchHeader.BYTES + message.length);
        header(message).put(frame);
        return frame.put(message).array();
    }

    private static byte[] reference() {
        byte[] inline = random(100);
        ByteBuffer message = ByteBuffer.allocate(192);
        message.put(inline).put(FILE, 1000, 40).put(new byte[20]).put(FILE, 64, 32);
        List<BatchRef.Slice> slices = List.of(
                new BatchRef.Slice(255, 40, 1000),
                new BatchRef.Slice(BatchRef.ZEROS, 20, 0),
                new BatchRef.Slice(7, 32, 64));
        ByteBuffer frame = Frames.encode(new BatchRef(header(message.array()), ByteBuffer.wrap(inline), slices));
        byte[] bytes = new byte[frame.remaining()];
        frame.get(bytes);
        return bytes;
    }

    /** Appends other frames to a damaged one. */
    private static ByteBuffer stream(byte[] frame) {
        byte[] next = ProtocolVectors.golden("grant").bytes();
        ByteBuffer stream = ByteBuffer.allocate(frame.length + MORE);
        stream.put(frame);
        while (stream.remaining() >= next.length) {
            stream.put(next);
        }
        return stream.flip();
    }

    /** The first frame that a decoder finds; a decoder that waits for more than the stream has found the damage. */
    private static Frame firstFrame(FrameDecoder decoder, byte[] bytes) throws ProtocolException {
        return decoder.next(stream(bytes))
                .orElseThrow(() -> ProtocolException.badFrame("no frame in " + MORE + " bytes more"));
    }

    /** The identity and the message of a piece, as a client checks them. */
    private static List<Object> piece(byte[] bytes) throws ProtocolException {
        Frame frame = firstFrame(ProtocolVectors.welcomedClient(), bytes);
        BatchHeader header;
        ByteBuffer message;
        if (frame instanceof Batch batch) {
            header = batch.header();
            message = batch.message();
        } else if (frame instanceof BatchRef reference) {
            header = reference.header();
            message = assembled(reference);
        } else {
            throw ProtocolException.badFrame("another type of frame");
        }
        if (header.crcWith(message) != header.crc()) {
            throw ProtocolException.badFrame("checksum");
        }
        byte[] content = new byte[message.remaining()];
        message.duplicate().get(content);
        return List.of(header.identity(), header.source(), HexFormat.of().formatHex(content));
    }

    private static ByteBuffer assembled(BatchRef reference) throws ProtocolException {
        ByteBuffer message = ByteBuffer.allocate(reference.header().messageBytes());
        message.put(reference.inline().duplicate());
        for (BatchRef.Slice slice : reference.slices()) {
            byte[] file = slice.file() == BatchRef.ZEROS ? new byte[64] : FILE;
            if (slice.file() != BatchRef.ZEROS && slice.file() != 255 && slice.file() != 7) {
                throw ProtocolException.badFrame("a file that was not announced");
            }
            if (slice.offset() + slice.length() > file.length) {
                throw ProtocolException.badFrame("a slice beyond its file");
            }
            message.put(file, (int) slice.offset(), (int) slice.length());
        }
        return message.flip();
    }
}
