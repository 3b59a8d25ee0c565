package dev.stoker.storage.cloud;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectStoreContract;
import java.io.IOException;
import java.util.UUID;

class GoogleObjectStoreTest extends ObjectStoreContract {

    @Override
    protected int rounds() {
        return 4;
    }

    @Override
    protected int manyObjects() {
        return 50;
    }

    @Override
    protected ObjectStore createStore() throws IOException {
        return Emulator.open(
                "gs://" + Emulator.BUCKET + "/" + UUID.randomUUID(),
                Emulator.google().environment());
    }
}
