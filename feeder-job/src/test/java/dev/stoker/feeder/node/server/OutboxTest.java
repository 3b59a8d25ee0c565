package dev.stoker.feeder.node.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.protocol.Pong;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

class OutboxTest {
    private final Outbox outbox = new Outbox(new ReentrantLock());

    private Outbox.Task take() throws InterruptedException {
        return outbox.take(() -> {});
    }

    @Test
    void answersStayInTheirOrderWhoeverWritesThem() throws InterruptedException {
        for (int i = 0; i < 4; i++) {
            outbox.add(new Pong(i));
        }
        assertThat(outbox.pong()).isEqualTo(new Pong(0));
        assertThat(take()).isEqualTo(new Outbox.Control(new Pong(1)));
        assertThat(outbox.pong()).as("the one before may not have been written").isNull();
        assertThat(take()).isEqualTo(new Outbox.Control(new Pong(2)));
        assertThat(outbox.pong()).isNull();
        assertThat(take()).isEqualTo(new Outbox.Control(new Pong(3)));
    }

    @Test
    void anAnswerGoesOutWhileAPieceIsBuilt() throws InterruptedException {
        outbox.durable();
        assertThat(take()).isEqualTo(new Outbox.TellDurable());
        outbox.add(new Pong(1));
        assertThat(outbox.pong()).isEqualTo(new Pong(1));
    }
}
