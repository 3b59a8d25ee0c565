package dev.stoker.ingest.rows.content;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.formats.RowFile;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Columns with paths of files, and the fields that get the contents of these files.
 *
 * @param columns the columns
 * @param root directory that has the files: an absolute path or a URI; empty for the directory of the rows' own file
 * @param empty whether a file of no bytes can be the content of a binary field
 */
public record FileContents(ArrayList<Column> columns, String root, FileTree.Empty empty) implements Serializable {
    private static final long serialVersionUID = 1;

    /** No column has paths. */
    public static final FileContents NONE = new FileContents(new ArrayList<>(), "", FileTree.Empty.SKIP);

    /**
     * A column with paths.
     *
     * @param name of the column
     * @param field that gets the content
     * @param type canonical type of the field: binary or utf8
     */
    public record Column(String name, String field, String type) implements Serializable {
        private static final long serialVersionUID = 1;

        /** Returns the name of the column with the paths beside the field with the contents. */
        public String pathName() {
            return name.equals(field) ? name + ".path" : name;
        }

        FieldType fieldType() {
            return FieldType.parse(type);
        }
    }

    /** Returns the names of the columns with paths. */
    public Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        columns.forEach(column -> names.add(column.name()));
        return names;
    }

    /** Returns the names of the fields with contents. */
    public List<String> fields() {
        return columns.stream().map(Column::field).toList();
    }

    /** Adds the contents to the columns of a file. */
    public RowFile of(RowFile rows, SourceFile file, long limitBytes) throws IOException {
        if (columns.isEmpty()) {
            return rows;
        }
        String location = file.location();
        String directory = root.isEmpty() ? location.substring(0, location.lastIndexOf('/')) : root;
        return new ContentFile(rows, this, new ContentTree(directory.isEmpty() ? "/" : directory, limitBytes));
    }
}
