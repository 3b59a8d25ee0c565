package dev.stoker.client.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.Waiting;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A slow name server delays only the feeder with that name. */
@Timeout(60)
class HostNamesTest {
    private final CountDownLatch answer = new CountDownLatch(1);
    private volatile boolean isSlow = true;

    private InetAddress[] look(String host) throws UnknownHostException {
        if (host.equals("unknown.example")) {
            throw new UnknownHostException(host);
        }
        if (host.equals("slow.example") && isSlow) {
            try {
                answer.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        return new InetAddress[] {InetAddress.getLoopbackAddress()};
    }

    private final HostNames names = new HostNames(this::look);

    @Test
    void othersAreFoundWhileOneIsLookedUp() throws IOException {
        assertThatThrownBy(() -> names.find("slow.example"))
                .isInstanceOf(IOException.class)
                .hasMessage("the name server has not answered yet for slow.example");
        assertThat(names.find("quick.example")).containsExactly(InetAddress.getLoopbackAddress());
        answer.countDown();
        Waiting.until(() -> isFound("slow.example"));
    }

    @Test
    void whatWasFoundBeforeIsUsedMeanwhile() throws IOException {
        isSlow = false;
        Waiting.until(() -> isFound("slow.example"));
        isSlow = true;
        assertThat(names.find("slow.example")).containsExactly(InetAddress.getLoopbackAddress());
        answer.countDown();
    }

    @Test
    void anUnknownHostIsSaidToBeSoAndAskedForAgain() {
        for (int attempt = 0; attempt < 2; attempt++) {
            Waiting.until(() -> {
                try {
                    names.find("unknown.example");
                    return false;
                } catch (UnknownHostException e) {
                    return true;
                } catch (IOException e) {
                    return false; // the thread was slow to start
                }
            });
        }
    }

    private boolean isFound(String host) {
        try {
            return names.find(host).length == 1;
        } catch (IOException e) {
            return false;
        }
    }
}
