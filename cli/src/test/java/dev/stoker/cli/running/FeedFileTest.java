package dev.stoker.cli.running;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class FeedFileTest {

    private static ObjectNode onACluster(int port) {
        ObjectNode json = JsonMapper.builder().build().createObjectNode();
        json.put("name", "photos").put("started_ms", 1).putArray("addresses").add("127.0.0.1:" + port);
        return json;
    }

    private static FeedFile.State state(ObjectNode json) {
        return new FeedFile("photos", json).state();
    }

    @Test
    void aFeedWhoseJobWasCancelledOrStoppedHasEnded() throws IOException {
        int closed;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closed = socket.getLocalPort();
        }
        assertThat(state(onACluster(closed))).isEqualTo(FeedFile.State.GONE);
        assertThat(state(onACluster(closed).put("closed_ms", 2))).isEqualTo(FeedFile.State.ENDED);
        assertThat(state(onACluster(closed).put("ended_ms", 2))).isEqualTo(FeedFile.State.ENDED);
    }
}
