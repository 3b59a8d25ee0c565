package dev.stoker.flink.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import org.junit.jupiter.api.Test;

class ConnectionTextTest {
    @Test
    void wordsConnectionsThatFailWithoutAMessage() {
        ConnectException refused = new ConnectException();
        refused.initCause(new ClosedChannelException());
        assertThat(ConnectionText.of(refused)).contains("nothing listens at this address");
        assertThat(ConnectionText.of(new ConnectException("Connection refused")))
                .contains("nothing listens at this address");

        ConnectException unknown = new ConnectException();
        unknown.initCause(new UnresolvedAddressException());
        assertThat(ConnectionText.of(unknown)).contains("host is not known");
        assertThat(ConnectionText.of(new UnknownHostException("h"))).contains("host is not known");

        assertThat(ConnectionText.of(new HttpConnectTimeoutException("HTTP connect timed out")))
                .isEqualTo("it does not answer in time");
        assertThat(ConnectionText.of(new ConnectException("No route to host"))).isEqualTo("No route to host");
        assertThat(ConnectionText.of(new IOException("broken"))).isEqualTo("broken");
    }
}
