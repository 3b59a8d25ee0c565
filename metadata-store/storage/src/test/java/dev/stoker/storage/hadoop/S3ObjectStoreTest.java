package dev.stoker.storage.hadoop;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectStoreContract;
import java.io.IOException;
import java.net.URI;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;

class S3ObjectStoreTest extends ObjectStoreContract {

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
        return open(S3Server.shared().endpoint(), Map.of("fs.s3a.paging.maximum", "20"));
    }

    static HadoopObjectStore open(URI endpoint, Map<String, String> settings) throws IOException {
        URI uri = URI.create("s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID());
        return open(uri, endpoint, settings);
    }

    static HadoopObjectStore open(URI uri, URI endpoint, Map<String, String> settings) throws IOException {
        HadoopSettings.use(S3Server.settings(endpoint));
        try {
            Configuration conf = StoreConfiguration.load(uri);
            settings.forEach(conf::set);
            return HadoopObjectStore.open(uri, conf);
        } finally {
            HadoopSettings.clear();
        }
    }
}
