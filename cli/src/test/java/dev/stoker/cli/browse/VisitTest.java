package dev.stoker.cli.browse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.FilesSeen;
import dev.stoker.metadata.Dataset;
import dev.stoker.server.TestDataset;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A visit of the pages changes no file of the dataset. */
@Timeout(60)
class VisitTest {

    @TempDir
    private Path directory;

    @Test
    void changesNoFile() throws Exception {
        TestDataset photos = TestDataset.create(directory.resolve("photos"), 3, 100, 5, 4);
        photos.append(4, 100, 3);
        String key = URLEncoder.encode(photos.samples(0).get(0).key(), StandardCharsets.UTF_8);
        HttpClient client = HttpClient.newHttpClient();
        try (ObjectStore store = new LocalObjectStore(photos.path())) {
            Dataset dataset = Dataset.open(store);
            Map<String, String> before = FilesSeen.of(path -> true, directory);
            try (BrowseServer server = new BrowseServer(dataset, dataset.snapshot(), 0)) {
                for (String page : List.of(
                        "",
                        "api/dataset",
                        "api/versions",
                        "api/samples?version=2",
                        "api/samples?version=2&order=size&descending=1",
                        "api/version?version=2",
                        "api/sample?version=2&chunk=0&row=0",
                        "api/sample?version=2&key=" + key,
                        "api/content?version=2&chunk=0&row=0&field=2",
                        "api/classes?version=2&split=train",
                        "api/diff?from=1&to=2")) {
                    HttpResponse<String> answer = client.send(
                            HttpRequest.newBuilder(URI.create(server.url() + page))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
                    assertThat(answer.statusCode())
                            .as("%s: %s", page, answer.body())
                            .isEqualTo(200);
                    assertThat(FilesSeen.of(path -> true, directory)).as(page).isEqualTo(before);
                }
            }
            assertThat(FilesSeen.of(path -> true, directory)).as("the end").isEqualTo(before);
        }
    }
}
