package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.formats.Tars;
import dev.stoker.formats.tfrecord.TfRecords;
import dev.stoker.schemas.testing.Advice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Follows the advice about archives and files of records. */
class RecordAdviceTest extends AdvisedIngest {
    private void records(String name, byte[]... records) throws IOException {
        source.file(name, TfRecords.concat(records));
    }

    private static byte[] record(String feature, byte[] values) {
        return TfRecords.example(TfRecords.feature(feature, values));
    }

    @Test
    void aFeatureOfOneFileOnly() throws IOException {
        records("a.tfrecord", record("i", TfRecords.ints(1)));
        records(
                "b.tfrecord",
                TfRecords.example(
                        TfRecords.feature("i", TfRecords.ints(2)), TfRecords.feature("a b", TfRecords.ints(3))));
        source.assertHelps("--without");
        source.assertHelps(source.path(), "--type", "…", "int64");
    }

    @Test
    void aFeatureOfAnotherKind() throws IOException {
        records("a.tfrecord", record("a b", TfRecords.ints(1)));
        records("b.tfrecord", record("a b", TfRecords.floats(1.5f)));
        source.assertHelps("--type");
        records("b.tfrecord", record("a b", TfRecords.ints(1, 2)));
        source.assertHelps("--type");
        records("b.tfrecord", record("a b", TfRecords.texts("x")), record("c", TfRecords.ints(1)));
        source.assertHelps("--without", "--type", "c=int64");
        records("a.tfrecord", record("a b", TfRecords.ints(1)), record("a b", TfRecords.ints(127, 1)));
        source.delete("b.tfrecord");
        source.assertHelps("--type", "--type", "a b=int8");
    }

    @Test
    void aMemberOfOneArchiveOnly() throws IOException {
        source.file("a.tar", new Tars().file("1.txt", "x").bytes());
        source.file("b.tar", new Tars().file("2.txt", "x").file("2.a b", "x").bytes());
        source.assertHelps("--without");
        source.assertHelps("--type");
    }

    @Test
    void aMemberWithoutANumber() throws IOException {
        source.file("a.tar", new Tars().file("1.cls", "7").file("2.cls", "cat").bytes());
        source.assertHelps("--type");
    }

    @Test
    void membersThatDoNotFollowEachOther() throws IOException {
        source.file(
                "a.tar",
                new Tars()
                        .file("1.txt", "x")
                        .file("2.txt", "x")
                        .file("1.cls", "1")
                        .bytes());
        assertThat(source.plan()).contains("tar --sort=name");
    }

    @Test
    void dotsInTheNamesOfMembers() throws IOException {
        Tars tars = new Tars();
        for (int i = 0; i < 20; i++) {
            tars.file("photo-" + i + "." + i + ".5.jpg", "x").file("photo-" + i + ".my cls", "1");
        }
        source.file("a.tar", tars.bytes());
        source.assertHelps("--columns");
    }

    @Test
    void anArchiveOfADirectory() throws IOException {
        source.file(
                "a.tar",
                new Tars().file("cat/1.jpg", "x").file("dog/2.jpg", "x").bytes());
        List<String> options = Advice.in(source.plan(), "--label-from");
        source.delete("a.tar");
        source.file("cat/1.jpg", "x");
        source.file("dog/2.jpg", "x");
        assertThat(source.plan(source.path(), options)).contains("classes of 2 samples: cat, dog");
    }

    @Test
    void aSparseFile() throws IOException {
        byte[] pax = "22 GNU.sparse.major=1\n".getBytes(StandardCharsets.UTF_8);
        source.file("a.tar", new Tars().member("p", 'x', pax).file("1.txt", "x").bytes());
        assertThat(source.plan()).contains("write the archive without --sparse");
    }
}
