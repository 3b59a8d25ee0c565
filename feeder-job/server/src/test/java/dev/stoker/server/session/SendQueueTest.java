package dev.stoker.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.protocol.Frame.Pong;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

class SendQueueTest {
    private final SendQueue sendQueue = new SendQueue(new ReentrantLock());

    private SendQueue.Task take() throws InterruptedException {
        return sendQueue.take(() -> {});
    }

    @Test
    void answersStayInTheirOrderWhoeverWritesThem() throws InterruptedException {
        for (int i = 0; i < 4; i++) {
            sendQueue.add(new Pong(i));
        }
        assertThat(sendQueue.pong()).isEqualTo(new Pong(0));
        assertThat(take()).isEqualTo(new SendQueue.Control(new Pong(1)));
        assertThat(sendQueue.pong())
                .as("the one before may not have been written")
                .isNull();
        assertThat(take()).isEqualTo(new SendQueue.Control(new Pong(2)));
        assertThat(sendQueue.pong()).isNull();
        assertThat(take()).isEqualTo(new SendQueue.Control(new Pong(3)));
    }

    @Test
    void anAnswerGoesOutWhileAPieceIsBuilt() throws InterruptedException {
        sendQueue.durable();
        assertThat(take()).isEqualTo(new SendQueue.TellDurable());
        sendQueue.add(new Pong(1));
        assertThat(sendQueue.pong()).isEqualTo(new Pong(1));
    }
}
