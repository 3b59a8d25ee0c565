package dev.stoker.export.place;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.export.spec.InvalidExportException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalTargetTest {
    @TempDir
    private Path root;

    private ExportTarget target(String export, TargetLocation.Existing existing) throws IOException {
        return new TargetLocation(root.resolve("out").toString(), export, existing).open();
    }

    private static byte[] description(String export) {
        return ("{\"stoker_export\":1,\"id\":\"" + export + "\"}").getBytes(StandardCharsets.UTF_8);
    }

    private void export(String export, TargetLocation.Existing existing) throws IOException {
        try (ExportTarget target = target(export, existing)) {
            target.begin();
            target.files().createIfAbsent("dir/" + export, new byte[] {1});
            target.commit(description(export));
        }
    }

    private List<String> content(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> directory.relativize(file).toString())
                    .sorted()
                    .toList();
        }
    }

    @Test
    void filesAppearTogetherAtTheCommit() throws IOException {
        try (ExportTarget target = target("a", TargetLocation.Existing.REFUSE)) {
            target.begin();
            target.files().createIfAbsent("part", new byte[] {1});
            assertThat(root.resolve("out")).doesNotExist();
            assertThat(target.committed()).isEmpty();
            target.commit(description("a"));
            assertThat(content(root)).containsExactly("out/_SUCCESS", "out/part");
            assertThat(target.committed()).contains(description("a"));
        }
    }

    @Test
    void anEmptyDirectoryIsReplaced() throws IOException {
        Files.createDirectory(root.resolve("out"));
        export("a", TargetLocation.Existing.REFUSE);
        assertThat(content(root)).containsExactly("out/_SUCCESS", "out/dir/a");
    }

    @Test
    void aRepeatedTaskCommitsAgainWithoutEffect() throws IOException {
        export("a", TargetLocation.Existing.REFUSE);
        try (ExportTarget target = target("a", TargetLocation.Existing.REFUSE)) {
            target.files().createIfAbsent("dir/a", new byte[] {1});
            target.commit(description("a"));
        }
        assertThat(content(root)).containsExactly("out/_SUCCESS", "out/dir/a");
    }

    @Test
    void aKilledTaskLeavesNoTemporaryFile() throws IOException {
        try (ExportTarget target = target("a", TargetLocation.Existing.REFUSE)) {
            target.begin();
            // A killed process does not close its writer.
            target.files().write("dir/b").write(ByteBuffer.wrap(new byte[] {1}));
            assertThat(content(root)).hasSize(1);
            target.files().createIfAbsent("dir/a", new byte[] {1});
            target.commit(description("a"));
        }
        assertThat(content(root)).containsExactly("out/_SUCCESS", "out/dir/a");
    }

    @Test
    void whatKilledExportsLeaveIsNamed() throws IOException {
        for (String name : List.of(".out.export-b", ".out.replaced-by-c", ".out.exports", ".other.export-d")) {
            Files.createDirectory(root.resolve(name));
        }
        Files.createFile(root.resolve(".out.export-file"));
        try (ExportTarget target = target("a", TargetLocation.Existing.REFUSE)) {
            target.begin();
            assertThat(target.others())
                    .containsExactlyInAnyOrder(
                            root.resolve(".out.export-b").toString(),
                            root.resolve(".out.replaced-by-c").toString());
        }
    }

    @Test
    void onlyAnEarlierExportIsReplaced() throws IOException {
        export("a", TargetLocation.Existing.REFUSE);
        assertThatThrownBy(() -> export("b", TargetLocation.Existing.REFUSE))
                .isInstanceOf(InvalidExportException.class)
                .hasMessageEndingWith("already has an export; replace it with --overwrite");
        export("c", TargetLocation.Existing.REPLACE);
        assertThat(content(root)).containsExactly("out/_SUCCESS", "out/dir/c");
        // Another system's file of this name does not make a directory an export.
        Files.writeString(root.resolve("out/_SUCCESS"), "");
        assertThatThrownBy(() -> export("d", TargetLocation.Existing.REPLACE))
                .hasMessageEndingWith("is not empty; choose a directory that does not exist");
        assertThat(content(root)).containsExactly("out/_SUCCESS", "out/dir/c");
    }

    @Test
    void filesOfAnotherProcessAreNotReplacedAtTheCommit() throws IOException {
        try (ExportTarget target = target("a", TargetLocation.Existing.REFUSE)) {
            target.begin();
            Files.createDirectory(root.resolve("out"));
            Files.writeString(root.resolve("out/mine"), "text");
            assertThatThrownBy(() -> target.commit(description("a"))).hasMessageContaining("is not empty");
            target.abandon();
        }
        assertThat(content(root)).containsExactly("out/mine");
    }

    @Test
    void aFileIsNoTarget() throws IOException {
        Files.writeString(root.resolve("out"), "text");
        assertThatThrownBy(() -> export("a", TargetLocation.Existing.REPLACE))
                .hasMessageEndingWith("is a file; choose another directory");
    }
}
