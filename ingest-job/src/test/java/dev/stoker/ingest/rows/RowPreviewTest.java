package dev.stoker.ingest.rows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.ingest.RowIngestJob;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RowPreviewTest {
    @TempDir
    private Path directory;

    private List<String> plan(String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(
                directory.resolve("rows.jsonl").toString(),
                directory.resolve("data").toString(),
                "--dry-run"));
        arguments.addAll(Arrays.asList(options));
        List<String> lines = RowIngestJob.plan(RowIngestOptions.parse(arguments.toArray(new String[0])));
        assertThat(directory.resolve("data")).doesNotExist();
        return lines;
    }

    private void write(int rows) throws Exception {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < rows; i++) {
            lines.add("{\"id\":" + i + ",\"text\":\"" + "ü".repeat(60) + "\",\"tokens\":[1,2],\"none\":"
                    + (i % 2 == 0 ? "null" : "true") + ",\"day\":\"2026-01-31\"}");
        }
        Files.write(directory.resolve("rows.jsonl"), lines);
    }

    @Test
    void showsTenRowsWithKeySplitAndShortValues() throws Exception {
        write(25);

        List<String> lines = plan("--key", "id", "--columns", "text,tokens,none,day", "--type", "day=date");

        assertThat(lines)
                .contains(
                        "rows   the first 10:",
                        "  0 (train): text=" + "ü".repeat(40) + "…, tokens=[2 numbers], none=null, day=2026-01-31",
                        "  9 (train): text=" + "ü".repeat(40) + "…, tokens=[2 numbers], none=true, day=2026-01-31")
                .noneMatch(line -> line.startsWith("  10 "))
                .anyMatch(line -> line.matches("size   about 1[0-9]{2} B for each row"));
    }

    @Test
    void showsATimeBeyondTheCalendarAsItsNumber() throws Exception {
        Files.writeString(directory.resolve("rows.jsonl"), "{\"at\":-9223372036854775808}\n{\"at\":5}\n");

        assertThat(plan("--type", "at=timestamp[s]"))
                .contains(
                        "  rows.jsonl#0 (train): at=-9223372036854775808 timestamp[s]",
                        "  rows.jsonl#28 (train): at=1970-01-01T00:00:05Z");
    }

    @Test
    void namesTheRowThatIsDamaged() throws Exception {
        Path table = directory.resolve("rows.csv");
        Files.writeString(table, "id,name\n1,a\n2,b,y\n3,c\n4\n");
        List<String> lines = RowIngestJob.plan(RowIngestOptions.parse(
                new String[] {table.toString(), directory.resolve("data").toString(), "--dry-run", "--on-error", "skip"
                }));
        assertThat(lines)
                .contains("  rows.csv#2 (train): id=3, name=c")
                .anyMatch(line -> line.contains("rows.csv#1: the record"))
                .anyMatch(line -> line.contains("rows.csv#3: the record"));
    }

    @Test
    void saysWhatWouldBeLeftOut() throws Exception {
        write(40);
        Files.writeString(
                directory.resolve("rows.jsonl"),
                Files.readString(directory.resolve("rows.jsonl")) + "{\"id\":\"x\",\"none\":true}\n");

        List<String> lines = plan("--columns", "none", "--type", "id=int64", "--where", "none AND id >= 10");

        assertThat(lines)
                .contains("left out: the columns id, text, tokens, day")
                .anyMatch(line -> line.contains("15 of the first 40 rows satisfy --where"))
                .anyMatch(line -> line.startsWith("ends the ingest: ") && line.contains("rows.jsonl"));
        assertThat(plan("--columns", "none", "--type", "id=int64", "--where", "none AND id >= 10", "--on-error=skip"))
                .anyMatch(line -> line.startsWith("left out: ") && line.contains("rows.jsonl"));
    }
}
