package dev.stoker.metadata.audit;

import dev.stoker.schemas.ledger.Consumer;

/** Formats the names of trainers in messages. */
final class Names {

    private Names() {}

    static String of(Consumer consumer) {
        return "run " + consumer.run() + ", rank " + consumer.rank() + " of " + consumer.worldSize()
                + (consumer.workers() == 1 ? "" : ", worker " + consumer.worker() + " of " + consumer.workers())
                + (consumer.replica() == 0 ? "" : ", replica " + consumer.replica());
    }
}
