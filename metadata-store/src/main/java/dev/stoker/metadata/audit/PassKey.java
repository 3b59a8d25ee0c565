package dev.stoker.metadata.audit;

import dev.stoker.schemas.ledger.Consumer;
import java.io.Serializable;

/** Identifies a pass that is judged separately. Has no fingerprint if the pass follows its dataset. */
record PassKey(String feed, String stream, String group, String fingerprint, int replica) implements Serializable {
    private static final long serialVersionUID = 1;

    static PassKey of(Consumer consumer) {
        return new PassKey(
                consumer.feed(), consumer.stream(), consumer.group(), consumer.fingerprint(), consumer.replica());
    }

    /** Returns stream and group, as options name them. */
    String name() {
        return stream + "/" + group;
    }

    @Override
    public String toString() {
        return "stream " + stream + ", group " + group + (replica == 0 ? "" : ", replica " + replica);
    }
}
