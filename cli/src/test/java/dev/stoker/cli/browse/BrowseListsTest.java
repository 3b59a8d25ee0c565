package dev.stoker.cli.browse;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.log.RemovedRows;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lists of the server: every sample is found by its order, filter, class and version. */
@Timeout(60)
class BrowseListsTest extends BrowsedDataset {

    @Test
    void everySampleIsOnOnePageOfEachOrder() throws Exception {
        List<String> stored = all("version=3&limit=7");
        assertThat(stored).hasSize(204).doesNotHaveDuplicates().startsWith("html/" + SCRIPT);
        assertThat(all("version=3&limit=9&order=key"))
                .containsExactlyElementsOf(stored.stream().sorted().toList());
        assertThat(all("version=3&limit=9&split=val")).hasSize(50).isSubsetOf(stored);
        assertThat(all("version=1")).hasSize(4);
        assertThat(json("api/samples?version=3&from=200").get("position").asLong())
                .isEqualTo(204);
    }

    @Test
    void samplesAreSelectedByClassAndByTheBeginOfTheirKeys() throws Exception {
        assertThat(all("version=3&limit=3&field=label&class=rare"))
                .containsExactly("rare/500", "rare/1000", "rare/1500", "rare/2000");
        assertThat(all("version=3&limit=3&prefix=usual/14"))
                .containsExactly(
                        IntStream.range(0, 10).mapToObj(i -> "usual/140" + i).toArray(String[]::new));
        assertThat(all("version=3&prefix=rare/1&field=label&class=rare&split=train"))
                .containsExactly("rare/1000", "rare/1500");
        assertThat(all("version=3&prefix=rare/1&field=label&class=usual")).isEmpty();
        assertThat(all("version=3&prefix=" + URLEncoder.encode("html/<", StandardCharsets.UTF_8)))
                .containsExactly("html/" + SCRIPT);
    }

    @Test
    void deletedSamplesAreNotThere() throws Exception {
        SampleDatasets.committer(dataset)
                .commit(VersionRequest.remove("delete", base -> List.of(RemovedRows.of(1, 1)), Map.of()));
        long newest = dataset.latestVersion();
        JsonNode change = json("api/versions?limit=1").at("/versions/0");
        assertThat(change.get("added_samples").asLong()).isZero();
        assertThat(change.path("removed_samples").asLong(-1)).isEqualTo(1);
        assertThat(change.path("updated_samples").asLong(-1)).isZero();
        assertThat(all("version=" + newest)).hasSize(203).doesNotContain("usual/101");
        assertThat(all("version=" + newest + "&order=key")).hasSize(203).doesNotContain("usual/101");
        assertThat(ask("api/sample?version=" + newest + "&chunk=1&row=1").statusCode())
                .isEqualTo(400);
        assertThat(ask("payload?version=" + newest + "&chunk=1&row=1&field=1").statusCode())
                .isEqualTo(400);
        assertThat(json("api/sample?version=3&chunk=1&row=1").get("key").asText())
                .isEqualTo("usual/101");
    }

    @Test
    void versionsAreListedAndCompared() throws Exception {
        JsonNode newest = json("api/versions?limit=2");
        assertThat(newest.get("versions")).hasSize(2);
        assertThat(newest.at("/versions/0/version").asLong()).isEqualTo(3);
        assertThat(newest.get("next").asLong()).isEqualTo(1);
        JsonNode last = json("api/versions?limit=2&from=1");
        assertThat(last.get("versions")).hasSize(1);
        assertThat(last.has("next")).isFalse();
        assertThat(newest.at("/versions/0/added_samples").asLong()).isEqualTo(50);
        assertThat(newest.at("/versions/0/removed_samples").asLong(-1)).isZero();

        String path = "api/diff?from=2&to=3&limit=3&offset=3";
        JsonNode diff = json(path);
        while (diff.get("state").asText().equals("running")) {
            diff = json(path);
        }
        assertThat(diff.get("state").asText()).as(diff.toString()).isEqualTo("done");
        assertThat(diff.get("total").asInt()).isEqualTo(50);
        assertThat(diff.at("/splits/0/added").asInt()).isEqualTo(50);
        assertThat(keys(diff)).hasSize(3);
        assertThat(diff.at("/samples/0/change").asText()).isEqualTo("added");
    }

    @Test
    void aConditionSelectsSamplesInEveryOrder() throws Exception {
        String rare = "&where=" + encoded("label = 'rare'");
        List<String> expected = List.of("rare/500", "rare/1000", "rare/1500", "rare/2000");
        assertThat(all("version=3&limit=3" + rare)).containsExactlyElementsOf(expected);
        assertThat(all("version=3&limit=3&order=key" + rare)).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(all("version=3&limit=3&order=size" + rare)).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(all("version=3&split=val" + rare)).containsExactly("rare/2000");
        assertThat(all("version=3&where=" + encoded("key = 'usual/101'"))).containsExactly("usual/101");
        for (Map.Entry<String, String> wrong : Map.of(
                        "label == 'rare'", "==",
                        "colour = 'red'", "colour",
                        "image = 'x'", "no payload for a condition")
                .entrySet()) {
            HttpResponse<byte[]> answer = ask("api/samples?version=3&where=" + encoded(wrong.getKey()));
            assertThat(answer.statusCode()).isEqualTo(400);
            assertThat(new String(answer.body(), StandardCharsets.UTF_8)).contains(wrong.getValue());
        }
    }

    @Test
    void samplesAreSortedByAFieldOrTheirSize() throws Exception {
        List<String> stored = all("version=3&limit=50");
        List<String> byClass = all("version=3&limit=50&order=" + encoded("field:label"));
        assertThat(byClass).containsExactlyInAnyOrderElementsOf(stored);
        Function<String, String> classOf = key -> key.substring(0, key.indexOf('/'));
        assertThat(byClass.stream().map(classOf)).isSorted();
        assertThat(byClass.stream().filter(key -> key.startsWith("usual/")))
                .as("equal values keep the stored order")
                .containsExactlyElementsOf(
                        stored.stream().filter(key -> key.startsWith("usual/")).toList());
        assertThat(all("version=3&limit=50&descending=1&order=" + encoded("field:label")).stream()
                        .map(classOf))
                .isSortedAccordingTo(Comparator.reverseOrder());
        JsonNode page = json("api/samples?version=3&limit=2&order=size&descending=1");
        assertThat(keys(page).get(0)).isEqualTo("svg/1");
        assertThat(page.get("found").asInt()).isEqualTo(stored.size());
        for (String wrong : List.of("field:image", "field:none", "colour")) {
            assertThat(ask("api/samples?version=3&order=" + encoded(wrong)).statusCode())
                    .as(wrong)
                    .isEqualTo(400);
        }
    }

    @Test
    void classesAreCounted() throws Exception {
        Map<String, Long> counts = new TreeMap<>();
        JsonNode next = null;
        do {
            JsonNode part = json("api/classes?version=3&split=train" + (next == null ? "" : "&from=" + next.asLong()));
            part.get("fields")
                    .get(0)
                    .get("classes")
                    .properties()
                    .forEach(of -> counts.merge(of.getKey(), of.getValue().asLong(), Long::sum));
            next = part.get("next");
        } while (next != null);
        Map<String, Long> expected = new TreeMap<>();
        all("version=3&split=train&limit=100")
                .forEach(key -> expected.merge(key.substring(0, key.indexOf('/')), 1L, Long::sum));
        assertThat(counts).isEqualTo(expected).containsEntry("rare", 3L);
    }
}
