"""From what was found to pictures, pages, reports and a folder that may be published."""
