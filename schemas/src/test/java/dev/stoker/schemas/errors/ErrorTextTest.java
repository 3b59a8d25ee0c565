package dev.stoker.schemas.errors;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import org.junit.jupiter.api.Test;

class ErrorTextTest {
    @Test
    void wordsConnectionsThatFailWithoutAMessage() {
        ConnectException refused = new ConnectException();
        refused.initCause(new ClosedChannelException());
        assertThat(ErrorText.ofConnection(refused)).contains("nothing listens at this address");
        assertThat(ErrorText.ofConnection(new ConnectException("Connection refused")))
                .contains("nothing listens at this address");

        ConnectException unknown = new ConnectException();
        unknown.initCause(new UnresolvedAddressException());
        assertThat(ErrorText.ofConnection(unknown)).contains("host is not known");
        assertThat(ErrorText.ofConnection(new UnknownHostException("h"))).contains("host is not known");

        assertThat(ErrorText.ofConnection(new HttpConnectTimeoutException("HTTP connect timed out")))
                .isEqualTo("it does not answer in time");
        assertThat(ErrorText.ofConnection(new ConnectException("No route to host")))
                .isEqualTo("No route to host");
        assertThat(ErrorText.ofConnection(new IOException("broken"))).isEqualTo("broken");
    }
}
