package dev.stoker.schemas.protocol.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.FrameType;
import dev.stoker.schemas.protocol.GoldenFrames;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Protocol;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.ProtocolVectors;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

public class FramesTest {
    public static List<ProtocolVectors.Golden> golden() {
        return ProtocolVectors.golden();
    }

    static List<ProtocolVectors.Bad> bad() {
        return ProtocolVectors.bad();
    }

    @ParameterizedTest
    @MethodSource("golden")
    void goldenFrameIsReadAndWrittenByteForByte(ProtocolVectors.Golden golden) throws Exception {
        ByteBuffer in = ByteBuffer.wrap(golden.bytes());
        Frame frame = golden.decoder().next(in).orElseThrow();
        assertThat(in.hasRemaining()).isFalse();
        assertThat(frame.type().name()).isEqualTo(golden.type());
        assertThat(frame).isEqualTo(GoldenFrames.expected(golden));
        assertThat(hex(Frames.encode(frame))).isEqualTo(HexFormat.of().formatHex(golden.bytes()));
    }

    @ParameterizedTest
    @MethodSource("golden")
    void goldenFrameIsReadFromSingleBytes(ProtocolVectors.Golden golden) throws Exception {
        FrameDecoder decoder = golden.decoder();
        Optional<Frame> frame = Optional.empty();
        for (int i = 0; i < golden.bytes().length; i++) {
            assertThat(frame).as("after %d bytes", i).isEmpty();
            assertThat(decoder.pendingBytes()).isEqualTo(i);
            frame = decoder.next(ByteBuffer.wrap(golden.bytes(), i, 1));
        }
        assertThat(frame).contains(GoldenFrames.expected(golden));
        assertThat(decoder.pendingBytes()).isZero();
    }

    @ParameterizedTest
    @MethodSource("bad")
    void badFrameEndsTheSessionWithItsCode(ProtocolVectors.Bad bad) {
        assertThatThrownBy(() -> drain(bad.decoder(), ByteBuffer.wrap(bad.bytes())))
                .isInstanceOfSatisfying(
                        ProtocolException.class,
                        e -> assertThat(e.code().text()).isEqualTo(bad.code()));
        assertThatThrownBy(() -> bad.decoder().next(ByteBuffer.allocate(0)))
                .as("nothing is read after it")
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void vectorsHaveEveryType() {
        Set<FrameType> types = EnumSet.noneOf(FrameType.class);
        golden().forEach(g -> types.add(FrameType.valueOf(g.type())));
        assertThat(types).containsExactlyInAnyOrder(FrameType.values());
    }

    @Test
    void newerProtocolIsToldWhoMustBeUpdated() {
        byte[] hello = ProtocolVectors.golden("hello").bytes().clone();
        hello[12] = 2;
        assertThatThrownBy(() -> FrameDecoder.forServer().next(ByteBuffer.wrap(hello)))
                .hasMessage("the client speaks protocol 2, this server 1: update the server");
    }

    @Test
    void changedByteIsNamedAsSuch() {
        byte[] grant = ProtocolVectors.golden("grant").bytes().clone();
        grant[16] ^= 1;
        assertThatThrownBy(() -> ProtocolVectors.welcomedServer().next(ByteBuffer.wrap(grant)))
                .isInstanceOf(ProtocolException.class)
                .hasMessageMatching(
                        "GRANT: the bytes have CRC-32C [0-9a-f]{8}, expected [0-9a-f]{8}: they were changed on "
                                + "the way");
    }

    @Test
    void unknownKeysAreIgnored() throws Exception {
        String json = "{\"future\":{\"a\":[1,{}]},\"rank\":1,\"world_size\":2}";
        Hello hello = (Hello) FrameDecoder.forServer().next(hello(json)).orElseThrow();
        assertThat(hello.participant()).isEqualTo(Participant.rank(1, 2));
        assertThat(hello.pass().group()).isEqualTo("default");
    }

    @Test
    void jsonMayBeSixteenLevelsDeep() throws Exception {
        String deepest = "{\"x\":" + "[".repeat(15) + "]".repeat(15) + "}";
        assertThat(FrameDecoder.forServer().next(hello(deepest))).isPresent();
        String deeper = "{\"x\":" + "[".repeat(16) + "]".repeat(16) + "}";
        assertThatThrownBy(() -> FrameDecoder.forServer().next(hello(deeper)))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("not JSON");
    }

    @Test
    void errorsNameTheKeyAndWhatWasExpected() {
        assertThatThrownBy(() -> FrameDecoder.forServer().next(hello("{\"rank\":\"one\"}")))
                .hasMessage("HELLO: rank is \"one\": expected a whole number from 0 to 2147483647");
        assertThatThrownBy(() -> FrameDecoder.forServer().next(hello("{\"order\":{\"seed\":-1,\"lanes\":0}}")))
                .hasMessageContaining("seed is -1")
                .hasMessageContaining("lanes is 0");
        String longText = "x".repeat(5000);
        assertThatThrownBy(() -> FrameDecoder.forServer().next(hello("{\"rank\":\"" + longText + "\"}")))
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(200));
    }

    @Test
    void greatestRunLeavesRoomForTheNext() throws Exception {
        Hello hello = (Hello) FrameDecoder.forServer()
                .next(hello("{\"run\":" + Hello.MAX_RUN + "}"))
                .orElseThrow();
        assertThat(hello.run()).isEqualTo(1L << 62);
        assertThatThrownBy(() -> FrameDecoder.forServer().next(hello("{\"run\":" + Long.MAX_VALUE + "}")))
                .hasMessage("HELLO: run is 9223372036854775807: expected a whole number from 0 to 4611686018427387904");
    }

    @Test
    void tokenStaysOutOfLogs() throws Exception {
        Frame hello = FrameDecoder.forServer()
                .next(ByteBuffer.wrap(ProtocolVectors.golden("hello").bytes()))
                .orElseThrow();
        assertThat(((Hello) hello).token()).contains("s3cret");
        assertThat(hello.toString()).doesNotContain("s3cret").contains("photos");
    }

    @Test
    void biggestFramesOfEachKindPass() throws Exception {
        List<Integer> lanes = new ArrayList<>();
        for (int lane = 0; lane < 65_535; lane++) {
            lanes.add(lane);
        }
        Subscribe subscribe = new Subscribe(1, 0, 0, 1, 10, TailPolicy.PAD, lanes);
        assertThat(ProtocolVectors.welcomedServer().next(Frames.encode(subscribe)))
                .contains(subscribe);
        int most = (Protocol.MAX_FROM_CLIENT - 24) / AckEntry.BYTES;
        Ack ack = new Ack(1, 0, Collections.nCopies(most, new AckEntry(1, 2, true, 3, 4, 5, 6, 7)));
        assertThat(ProtocolVectors.welcomedServer().next(Frames.encode(ack))).contains(ack);
        Ack more = new Ack(1, 0, Collections.nCopies(most + 1, new AckEntry(1, 2, true, 3, 4, 5, 6, 7)));
        assertThatThrownBy(() -> Frames.encode(more)).hasMessageContaining("at most 1048576 may be sent");
    }

    @Test
    void framesAfterHelloWaitForWelcome() throws Exception {
        FrameDecoder decoder = FrameDecoder.forServer();
        ByteBuffer both = ByteBuffer.allocate(4096);
        both.put(ProtocolVectors.golden("hello").bytes());
        both.put(ProtocolVectors.golden("grant").bytes()).flip();
        assertThat(decoder.next(both)).get().isInstanceOf(Hello.class);
        decoder.welcomed();
        assertThat(decoder.next(both)).contains(new Grant(1, 35));
        assertThat(decoder.next(both)).isEmpty();
        FrameDecoder early = FrameDecoder.forServer();
        both.rewind();
        early.next(both);
        assertThatThrownBy(() -> early.next(both)).hasMessage("GRANT comes out of turn, before WELCOME");
        assertThatThrownBy(() -> FrameDecoder.forServer().welcomed()).isInstanceOf(IllegalStateException.class);
    }

    public static void drain(FrameDecoder decoder, ByteBuffer in) throws ProtocolException {
        while (decoder.next(in).isPresent() || in.hasRemaining()) {
            // Everything is read until the decoder objects or wants more.
        }
    }

    private static ByteBuffer hello(String json) {
        byte[] text = json.getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(20 + text.length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(16 + text.length).putInt(FrameType.HELLO.code());
        out.putInt(Protocol.MAGIC).putInt(Protocol.VERSION).put(text);
        return ByteBuffer.wrap(ProtocolVectors.sealed(out.array()));
    }

    private static String hex(ByteBuffer bytes) {
        byte[] array = new byte[bytes.remaining()];
        bytes.get(array);
        return HexFormat.of().formatHex(array);
    }

    @Test
    void aWelcomeThatNeedsAnUnknownFeatureIsTooNew() {
        assertThatThrownBy(() -> FrameDecoder.forClient().next(ByteBuffer.wrap(welcomeWith("[\"leap\"]"))))
                .isInstanceOfSatisfying(
                        ProtocolException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED_PROTOCOL))
                .hasMessage("WELCOME needs the feature 'leap', which this release does not know; a newer Stoker wrote"
                        + " it; update Stoker to read it");
        assertThatThrownBy(() -> FrameDecoder.forClient().next(ByteBuffer.wrap(welcomeWith("[\"b\",\"a\"]"))))
                .isInstanceOfSatisfying(
                        ProtocolException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_FRAME))
                .hasMessageContaining("requires is [\"b\",\"a\"]");
    }

    /** The golden WELCOME with a list of required features. */
    private static byte[] welcomeWith(String requires) {
        byte[] golden = ProtocolVectors.golden("welcome").bytes();
        byte[] more = ("\"requires\":" + requires + ",").getBytes(StandardCharsets.UTF_8);
        int json = ByteAttacks.indexOf(golden, new byte[] {'{'}) + 1;
        ByteBuffer bytes = ByteBuffer.allocate(golden.length + more.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put(golden, 0, json).put(more).put(golden, json, golden.length - json);
        return ProtocolVectors.sealed(bytes.putInt(0, bytes.capacity() - 4).array());
    }
}
