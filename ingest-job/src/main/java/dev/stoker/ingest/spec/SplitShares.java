package dev.stoker.ingest.spec;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.regex.Pattern;

/** Parses {@code --split}. */
public final class SplitShares {

    private static final Pattern SPLIT_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}");

    private SplitShares() {}

    /**
     * The splits other than {@code train} and their shares, in the order in which they were given.
     *
     * @param texts such as {@code val=0.05}
     * @param problems receives one sentence for each problem
     */
    public static LinkedHashMap<String, Double> parse(List<String> texts, List<String> problems) {
        LinkedHashMap<String, Double> shares = new LinkedHashMap<>();
        double sum = 0;
        for (String text : texts) {
            int equals = text.indexOf('=');
            String name = equals < 0 ? text : text.substring(0, equals);
            double share;
            try {
                share = equals < 0 ? Double.NaN : Double.parseDouble(text.substring(equals + 1));
            } catch (NumberFormatException e) {
                share = Double.NaN;
            }
            if (!SPLIT_NAME.matcher(name).matches()) {
                problems.add("option --split: '" + name + "' is not a valid name of a split; use letters, digits, '_',"
                        + " '.', '-'");
            } else if (!(share > 0 && share <= 1)) {
                problems.add("option --split: " + text + " is not name=share with a share above 0 and at most 1,"
                        + " such as val=0.05");
            } else if (shares.put(name, share) != null) {
                problems.add("option --split: " + name + " is given twice");
            } else {
                sum += share;
            }
        }
        boolean isWhole = Math.abs(sum - 1) < 1e-9;
        if (sum > 1 && !isWhole) {
            problems.add("option --split: the shares sum to " + sum + "; make them at most 1");
        } else if (shares.containsKey(SplitRule.DEFAULT) && !isWhole) {
            problems.add("option --split: the shares sum to " + sum
                    + "; leave train out, which takes the rest, or make them sum to 1");
        }
        shares.remove(SplitRule.DEFAULT);
        return shares;
    }
}
