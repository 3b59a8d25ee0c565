package dev.stoker.storage.cloud;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectStoreContract;
import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.Tag;

@Tag("azurite")
@Tag("full-stores")
class AzureObjectStoreTest extends ObjectStoreContract {

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
                "az://" + Emulator.BUCKET + "/" + UUID.randomUUID(),
                Emulator.azure().environment());
    }
}
