/** The version of the table of kinds, counted up with each change of what is found: what was looked at by an earlier one is looked at again. */
export const rulesVersion = 9;
