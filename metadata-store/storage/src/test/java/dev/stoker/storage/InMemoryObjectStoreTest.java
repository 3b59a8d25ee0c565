package dev.stoker.storage;

class InMemoryObjectStoreTest extends ObjectStoreContract {

    @Override
    protected ObjectStore createStore() {
        return new InMemoryObjectStore();
    }
}
