package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.testing.Advice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Follows the advice about trees of files, and about fields of a dataset that is there. */
class FileAdviceTest extends AdvisedIngest {
    @Test
    void filesThatAreSkipped() throws IOException {
        source.file(".hidden.jpg", "x");
        source.assertHelps("--hidden");
        source.delete(".hidden.jpg");
        source.file("empty.jpg", "");
        source.assertHelps("--empty");
        source.delete("empty.jpg");
        Path image = Files.writeString(directory.resolve("other.jpg"), "x");
        Files.createSymbolicLink(source.path("link.jpg"), image);
        source.assertHelps("--links", "--links", "skip");
        source.assertHelps("--links", "--links", "skip", "--format", "files");
        assertThat(source.plan("--exclude", "*.jpg")).contains("or correct the patterns");
    }

    @Test
    void filesOfAnUnknownFormat() throws IOException {
        source.file("a.dat", "a,b\n1,x\n");
        source.assertHelps(source.path("a.dat"), "--format", "FORMAT", "csv");
        source.assertHelps(source.path(), "--format", "FORMAT", "csv", "--key", "a");
        assertThat(source.plan("--key", "a", "--where", "a > 1"))
                .endsWith("or to pack each file as one sample, leave out --key and --where, which are for rows");
        assertThat(AdvisedSource.isGood(source.plan())).isTrue();
    }

    @Test
    void aFileThatIsATable() throws IOException {
        source.file("t.csv", "a,b\n1,x\n");
        Path table = source.path("t.csv");
        assertThat(source.plan(table, List.of("--limit", "3")))
                .contains("option --limit is for trees of files, not for rows; --where CONDITION selects rows");
        assertThat(AdvisedSource.isGood(source.plan(table, List.of("--where", "a < 3"))))
                .isTrue();
    }

    @Test
    void filesOutsideOfTheDirectory() throws IOException {
        source.file("images/a.jpg", "x");
        Path table = source.path("tables/t.csv");
        source.file("tables/t.csv", "path\n../images/a.jpg\n");
        String said = source.plan(table, List.of("--read", "path=image"));
        assertThat(said).contains("write the paths from one directory that has all files");
        source.file("tables/t.csv", "path\nimages/a.jpg\n");
        assertThat(AdvisedSource.isGood(source.plan(
                        table,
                        AdvisedSource.follow(
                                said, "--read-root", "DIRECTORY", source.path().toString(), "--read", "path=image"))))
                .isTrue();
        source.file("tables/t.csv", "path\n" + source.path("images/a.jpg") + "\n");
        source.assertHelps(
                source.path("tables/t.csv"),
                "--read-root",
                "DIRECTORY",
                source.path().toString(),
                "--read",
                "path=image");
        source.assertHelps(
                source.path("tables/t.csv"),
                "--read",
                "COLUMN",
                "path",
                "--read-root",
                source.path().toString());
    }

    @Test
    void theFieldOfTheFiles() throws IOException {
        source.file("a/1.jpg", "x");
        source.assertHelps(
                source.path(), "--field", "NAME", "photo", "--label-from", "parent-dir", "--label-field", "image");
        source.dataset(Field.small("photo", FieldType.parse("binary")));
        source.assertHelps("--field", "--append", "true", "--field", "image");
    }

    @Test
    void filesForADatasetWithOtherFields() throws IOException {
        source.file("a/1.jpg", "x");
        source.dataset(
                Field.small("image", FieldType.parse("binary")),
                Field.small("my class", FieldType.parse("categorical")));
        String said = source.plan("--append");
        List<String> options = AdvisedSource.follow(said, "--label-from", "", "", "--append", "true");
        options.addAll(Advice.in(said, "--label-field"));
        assertThat(AdvisedSource.isGood(source.plan(source.path(), options)))
                .as(said)
                .isTrue();
    }

    @Test
    void sidecarsThatADatasetNeeds() throws IOException {
        source.file("1.jpg", "x");
        source.file("1.txt", "a cat");
        source.dataset(
                Field.small("image", FieldType.parse("binary")), Field.small("caption", FieldType.parse("utf8")));
        source.assertHelps(source.path(), "--sidecar", "ENDING", "txt", "--append", "true");
    }

    @Test
    void columnsForADatasetWithOtherFields() throws IOException {
        source.file("a.csv", "my v,s\n1,x\n");
        source.dataset(Field.small("v", FieldType.parse("int64")), Field.nullable("s", FieldType.parse("utf8")));
        source.assertHelps(source.path(), "--rename", "NAME", "v", "--append", "true");
        List<String> given = List.of("--append", "true", "--rename", "my v=v");
        source.file("a.csv", "my v,s,t\n1,x,y\n");
        source.assertHelps("--without", given.toArray(String[]::new));
        source.file("a.csv", "w,s\n1,x\n");
        String said = source.plan("--append", "--without", "w");
        assertThat(said).contains("requires a value");
        assertThat(Advice.in(said, "--rename")).containsExactly("--rename", "COLUMN=v");
        source.file("a.csv", "v,s\n1,x\n");
        source.assertHelps("--type", "--append", "true", "--type", "v=int32");
    }

    @Test
    void valuesThatAFieldOfTheDatasetDoesNotHold() throws IOException {
        source.golden("columnar/parquet/int96.parquet", "a.parquet");
        source.dataset(Field.nullable("at", FieldType.parse("utf8")), Field.nullable("i", FieldType.parse("int64")));
        assertThat(source.plan("--append")).contains("which a field of type utf8 does not hold; leave the column out");
    }

    @Test
    void filesThatASyncCannotRead() throws IOException {
        source.file("1.jpg", "x");
        String[] given = {source.path().toString(), source.target().toString(), "--delete", "--on-error", "skip"};
        InvalidIngestException e = catchThrowableOfType(InvalidIngestException.class, () -> SyncOptions.parse(given));
        List<String> words = Advice.in(String.join("\n", e.problems()), "--on-error");
        given[3] = words.get(0);
        given[4] = words.get(1);
        assertThat(SyncOptions.parse(given)).isNotNull();
    }
}
