package dev.stoker.connectors.files.source.enumerator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.files.source.event.WalkEvent;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import java.util.List;
import org.junit.jupiter.api.Test;

class DirectoryAssignerTest {

    private final DirectoryAssigner assigner = new DirectoryAssigner(2);

    private static DirectorySplit split(String path) {
        return new DirectorySplit(path, List.of());
    }

    private static WalkEvent.Part listed(String path, String... found) {
        return part(true, path, found);
    }

    private static WalkEvent.Part part(boolean isLast, String path, String... found) {
        return new WalkEvent.Part(
                path, List.of(found).stream().map(DirectoryAssignerTest::split).toList(), isLast);
    }

    @Test
    void beginsWithTheRootAndEndsWhenAllIsListed() {
        assertThat(assigner.take(0)).containsExactly(DirectorySplit.ROOT);
        assertThat(assigner.take(1)).isEmpty();
        assertThat(assigner.isDone()).isFalse();

        assigner.listed(0, listed("", "a", "b", "c"));
        assertThat(assigner.take(1)).containsExactly(split("a"), split("b"));
        assertThat(assigner.take(0)).containsExactly(split("c"));

        assigner.listed(1, listed("a"));
        assigner.listed(1, listed("b"));
        assertThat(assigner.isDone()).isFalse();
        assigner.listed(0, listed("c"));
        assertThat(assigner.isDone()).isTrue();
    }

    @Test
    void listsAgainWhatALostReaderHadListedButItsSubdirectoriesOnce() {
        assigner.take(0);
        assigner.listed(0, listed("", "a", "b"));
        assertThat(assigner.take(1)).containsExactly(split("a"), split("b"));

        assigner.lost(0, List.of(DirectorySplit.ROOT));

        assertThat(assigner.take(0)).containsExactly(DirectorySplit.ROOT);
        assigner.listed(0, listed("", "a", "b"));
        assertThat(assigner.take(0)).isEmpty();
        assigner.listed(1, listed("a"));
        assigner.listed(1, listed("b"));
        assertThat(assigner.isDone()).isTrue();
    }

    @Test
    void listsSubdirectoriesOfADirectoryThatWasLostBeforeItWasReported() {
        assigner.take(0);

        assigner.lost(0, List.of(DirectorySplit.ROOT));
        assigner.listed(0, listed("", "too", "late"));

        assertThat(assigner.take(1)).containsExactly(DirectorySplit.ROOT);
        assigner.listed(1, listed("", "a"));
        assertThat(assigner.take(1)).containsExactly(split("a"));
    }

    @Test
    void givesOutTheSubdirectoriesOfADirectoryOnceAllOfThemAreKnown() {
        assigner.take(0);
        assigner.listed(0, part(false, "", "a", "b"));
        assertThat(assigner.take(1)).isEmpty();
        assertThat(assigner.isDone()).isFalse();
        assigner.listed(0, part(true, "", "c"));
        assertThat(assigner.take(1)).containsExactly(split("a"), split("b"));
        assertThat(assigner.take(0)).containsExactly(split("c"));
    }

    @Test
    void forgetsTheReportedPartsOfAReaderThatIsLost() {
        assigner.take(0);
        assigner.listed(0, part(false, "", "a", "b"));

        assigner.lost(0, List.of(DirectorySplit.ROOT));

        assertThat(assigner.take(1)).containsExactly(DirectorySplit.ROOT);
        assigner.listed(1, part(false, "", "a", "b"));
        assigner.listed(1, part(true, "", "c"));
        assertThat(assigner.take(0)).containsExactly(split("a"), split("b"));
        assertThat(assigner.take(1)).containsExactly(split("c"));
    }

    @Test
    void listsDepthFirst() {
        assigner.take(0);
        assigner.listed(0, listed("", "a", "b", "c"));
        assertThat(assigner.take(0)).containsExactly(split("a"), split("b"));
        assigner.listed(0, listed("a", "a/1", "a/2"));
        assertThat(assigner.take(0)).containsExactly(split("a/1"));
    }
}
